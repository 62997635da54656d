package scripted

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// found is a search as the conversation shows it. The models that search know only the issue's words and
// what the tools answered: no book.
type found struct {
	issue     issueWords
	paths     []string      // source files in the structure, without tests
	asked     map[call]bool // calls as the teacher writes them
	named     []place       // what imports name
	suggested []place       // what errors suggest
	shown     []definition  // what answers showed the code of
	ended     bool          // Exit was called
	calls     int
	failed    int // of these
}

// place is a qualified name in a file.
type place struct{ file, name string }

// definition is one whose code was shown.
type definition struct {
	place
	class bool
	text  string
}

// searchArguments are the arguments of the tools.
type searchArguments struct {
	File     string `json:"file"`
	Class    string `json:"class"`
	Function string `json:"function"`
	Method   string `json:"method"`
}

// readSearch reads the state of a search.
func readSearch(state []relabel.Message) *found {
	h := readHistory(state)
	f := &found{issue: wordsOf(issueOf(h.opening)), asked: map[call]bool{}}
	args := argumentsOf(state)
	for i, s := range h.steps {
		f.calls++
		f.read(s, args[i])
	}
	return f
}

// argumentsOf are the arguments of all calls in their order, those of a broken call empty.
func argumentsOf(state []relabel.Message) (all []searchArguments) {
	for _, m := range state {
		if m.Role != relabel.RoleAssistant {
			continue
		}
		for _, c := range m.ToolCalls {
			var a searchArguments
			if json.Unmarshal([]byte(c.Arguments), &a) != nil {
				a = searchArguments{}
			}
			all = append(all, a)
		}
	}
	return all
}

// read takes one call with its answer.
func (f *found) read(s step, a searchArguments) {
	f.asked[written(s.name, a)] = true
	failed := strings.HasPrefix(s.observed, "error: ")
	switch {
	case failed:
		f.failed++
		f.suggest(a.File, s.observed)
	case s.name == toolExit:
		f.ended = true
	case s.name == toolStructure:
		f.paths = slices.DeleteFunc(readTree(s.observed), isTest)
	case s.name == toolImports:
		f.readImports(a.File, s.observed)
	default:
		f.show(a, s.observed)
	}
}

// written is a call as the teacher writes it.
func written(tool string, a searchArguments) call {
	switch tool {
	case toolImports:
		return call{tool, object("file", a.File)}
	case toolClass:
		return call{tool, object("file", a.File, "class", a.Class)}
	case toolFunction:
		return call{tool, object("file", a.File, "function", a.Function)}
	case toolMethod:
		return call{tool, object("file", a.File, "class", a.Class, "method", a.Method)}
	}
	return call{tool, "{}"}
}

var (
	cleared   = regexp.MustCompile(`(?m)^\d+\t|\s*#.*$`) // numbers of lines, comments
	imported  = regexp.MustCompile(`(?m)^\s*from\s+(\.*)([\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)`)
	defined   = regexp.MustCompile(`^\d+\t(\s*)(?:export\s+|async\s+|pub\s+)*(def|class|func|fn|function)\s+(?:\([^)]*\)\s*)?(\w+)`)
	similarTo = regexp.MustCompile(`similar: (.+)`)
)

// readImports takes the names that a file imports from files of the repository.
func (f *found) readImports(file, text string) {
	for _, m := range imported.FindAllStringSubmatch(cleared.ReplaceAllString(text, ""), -1) {
		from := strings.ReplaceAll(m[2], ".", "/")
		if dots := len(m[1]); dots > 0 {
			from = path.Join(path.Dir(file), strings.Repeat("../", dots-1), from)
		}
		for _, name := range identifier.FindAllString(m[3], -1) {
			if strings.ToUpper(name) != name && !strings.HasPrefix(name, "__") {
				f.name(from, name)
			}
		}
	}
}

// name takes a name of a module, if the module is a file of the repository and the name none.
func (f *found) name(module, name string) {
	for _, p := range f.paths {
		rest := strings.TrimSuffix(p, path.Ext(p))
		if (rest == module || strings.HasSuffix(rest, "/"+module)) && !slices.Contains(f.named, place{p, name}) {
			f.named = append(f.named, place{p, name})
		}
	}
}

// suggest takes the names that an error suggests.
func (f *found) suggest(file, text string) {
	m := similarTo.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(text, "error: no source file") {
		return
	}
	for name := range strings.SplitSeq(m[1], ", ") {
		f.suggested = append(f.suggested, place{file, name})
	}
}

// show takes the definitions in code that a call showed.
func (f *found) show(a searchArguments, text string) {
	type scope struct {
		indent int
		at     int // in f.shown
	}
	var open []scope
	name := a.Function // the outermost definition has the name of the call
	if a.Class != "" {
		name = strings.TrimSuffix(a.Class+"."+a.Method, ".")
	}
	for line := range strings.Lines(text) {
		if m := defined.FindStringSubmatch(line); m != nil {
			for len(open) > 0 && open[len(open)-1].indent >= len(m[1]) {
				open = open[:len(open)-1]
			}
			full := name
			if len(open) > 0 {
				full = f.shown[open[len(open)-1].at].name + "." + m[3]
			}
			open = append(open, scope{len(m[1]), len(f.shown)})
			f.shown = append(f.shown, definition{place: place{a.File, full}, class: m[2] == "class"})
		}
		if len(open) > 0 {
			f.shown[open[len(open)-1].at].text += line
		}
	}
}

// issueOf is the issue in the opening.
func issueOf(opening string) string {
	_, issue, is := strings.Cut(opening, "<issue>")
	if !is {
		return opening
	}
	issue, _, _ = strings.Cut(issue, "</issue>")
	return issue
}

// readTree lists the paths of a structure.
func readTree(text string) (paths []string) {
	var folders []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		name := strings.TrimLeft(line, " ")
		depth := (len(line) - len(name)) / 2
		if strings.HasPrefix(name, "(") || strings.HasPrefix(name, "[") || depth > len(folders) {
			continue
		}
		folders = folders[:depth]
		if folder, is := strings.CutSuffix(name, "/"); is {
			folders = append(folders, folder)
			continue
		}
		if !strings.HasSuffix(name, ")") {
			paths = append(paths, path.Join(append(slices.Clone(folders), name)...))
		}
	}
	return paths
}

// isTest reports whether a path is one of tests or documentation, which issues are rarely about.
func isTest(p string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(p), func(r rune) bool { return r == '/' || r == '.' || r == '_' }) {
		if slices.Contains([]string{"test", "tests", "testing", "conftest", "docs", "doc", "examples", "setup"}, part) {
			return true
		}
	}
	return false
}
