package scripted

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// The tools of the RepoSearcher scaffold.
const (
	toolStructure = "GetRepoStructure"
	toolImports   = "GetImportOfFile"
	toolClass     = "SearchClass"
	toolFunction  = "SearchFunction"
	toolMethod    = "SearchClassMethod"
	toolExit      = "Exit"
)

// What bounds a search: the names that it looks for, the files in which it does, and its calls.
const (
	mostNames = 8
	mostFiles = 4
	mostCalls = 14
)

// searches reports whether a request offers the tools of RepoSearcher.
func (q request) searches() bool { return strings.Contains(string(q.Tools), `"`+toolStructure+`"`) }

// found is a search as the conversation shows it. The models that search know only the issue's words and
// what the tools answered: no book.
type found struct {
	words  []string        // of the issue, by how likely they name something
	paths  []string        // source files in the structure, the likeliest first
	asked  map[string]bool // calls, as name and arguments
	names  []string        // path::Name of what was shown, best first
	ended  bool            // Exit was called
	calls  int
	looked bool // the structure was shown
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
	f := &found{words: wordsOf(issueOf(h.opening)), asked: map[string]bool{}}
	args := map[string]searchArguments{}
	for _, m := range state {
		for _, c := range m.ToolCalls {
			var a searchArguments
			_ = json.Unmarshal([]byte(c.Arguments), &a) // those of a broken call are empty
			args[c.ID] = a
		}
	}
	for _, s := range h.steps {
		f.calls++
		a := args[s.id]
		f.asked[s.name+" "+a.File+" "+a.Class+a.Function+"."+a.Method] = true
		failed := strings.HasPrefix(s.observed, "error: ")
		switch {
		case s.name == toolExit && !failed:
			f.ended = true
		case s.name == toolStructure && !failed:
			f.looked = true
			f.paths = f.rankPaths(readTree(s.observed))
		case !failed && s.name != toolImports:
			f.show(a, s.observed)
		case failed:
			f.suggest(a.File, s.observed)
		}
	}
	f.rankNames()
	return f
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

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)
	inCode     = regexp.MustCompile("`([^`\n]+)`|([A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)+)|([A-Za-z_][A-Za-z0-9_]*)\\(")
	defined    = regexp.MustCompile(`(?m)^\d+\t\s*(?:async\s+)?(?:def|class|func(?:\s+\([^)]*\))?|function)\s+(\w+)`)
	similarTo  = regexp.MustCompile(`similar: (.+)`)
)

// common are words of issues that name nothing.
var common = strings.Fields("the and for are was not with this that from have has when should would could which what but its into than then them they there here will can may does did use used using only also after before returns return value values error issue bug code python file files function functions method class line lines none true false self def import")

// wordsOf are the identifiers of an issue: first those that are written as code, then those with the form
// of a name, then others, each once.
func wordsOf(issue string) []string {
	var asCode, named, others []string
	for _, m := range inCode.FindAllStringSubmatch(issue, -1) {
		asCode = append(asCode, identifier.FindAllString(m[1]+" "+m[2]+" "+m[3], -1)...)
	}
	for _, w := range identifier.FindAllString(issue, -1) {
		if strings.ContainsRune(w, '_') || strings.ToLower(w[1:]) != w[1:] {
			named = append(named, w)
		} else {
			others = append(others, w)
		}
	}
	seen := map[string]bool{}
	var words []string
	for _, w := range slices.Concat(asCode, named, others) {
		if !seen[w] && !slices.Contains(common, strings.ToLower(w)) {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
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

// rankPaths orders source files by the issue's words in their paths. Earlier words count more.
func (f *found) rankPaths(paths []string) []string {
	paths = slices.DeleteFunc(paths, isTest)
	score := map[string]float64{}
	for _, p := range paths {
		parts := strings.FieldsFunc(strings.ToLower(p), func(r rune) bool { return r == '/' || r == '.' || r == '_' })
		for i, w := range f.words {
			lower := strings.ToLower(w)
			for k, part := range parts {
				if part == lower || part == lower+"s" || lower == part+"s" || len(part) > 3 && strings.Contains(lower, part) {
					score[p] += float64(k+1) / float64(i+3)
				}
			}
		}
		if strings.HasSuffix(p, "__init__.py") {
			score[p] -= 0.2
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return strings.Count(a, "/") - strings.Count(b, "/")
	})
	return paths
}

// show takes the names of code that a call showed.
func (f *found) show(a searchArguments, text string) {
	owner := a.Class
	if a.Method != "" {
		f.names = append(f.names, a.File+"::"+a.Class+"."+a.Method)
		return
	}
	if a.Function != "" {
		f.names = append(f.names, a.File+"::"+a.Function)
		return
	}
	for i, m := range defined.FindAllStringSubmatch(text, -1) {
		if i > 0 && owner != "" { // the first one is the class
			f.names = append(f.names, a.File+"::"+owner+"."+m[1])
		}
	}
}

// suggest takes the names that an error suggests.
func (f *found) suggest(file, text string) {
	m := similarTo.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(text, "error: no source file") {
		return
	}
	for _, name := range strings.Split(m[1], ", ") {
		f.names = append(f.names, file+"::"+name)
	}
}

// rankNames orders the names by the issue's words in them, and keeps each once.
func (f *found) rankNames() {
	score := map[string]float64{}
	for _, n := range f.names {
		_, name, _ := strings.Cut(n, "::")
		last := name[strings.LastIndexByte(name, '.')+1:]
		for i, w := range f.words {
			switch lower := strings.ToLower(w); {
			case w == last:
				score[n] += 4 / float64(i+3)
			case strings.ToLower(last) == lower, slices.Contains(strings.Split(strings.ToLower(name), "."), lower):
				score[n] += 2 / float64(i+3)
			case len(w) > 3 && strings.Contains(strings.ToLower(name), lower):
				score[n] += 1 / float64(i+3)
			}
		}
	}
	slices.SortStableFunc(f.names, func(a, b string) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	f.names = slices.CompactFunc(f.names, func(a, b string) bool { return a == b })
}

// search is the teacher's action in a search: the structure, then classes, functions and methods that have
// the issue's words as names in the likeliest files, then Exit and the answer.
func (f *found) search(d *dice) action {
	switch {
	case f.ended:
		return f.answer(d)
	case !f.looked:
		return say(d, thoughts["structure"], call{toolStructure, "{}"})
	}
	if c, more := f.next(); more && f.calls < mostCalls {
		return say(d, thoughts["find"], c)
	}
	return say(d, thoughts["exit"], call{toolExit, "{}"})
}

// next is the first call of the search that was not made.
func (f *found) next() (call, bool) {
	files := f.paths[:min(len(f.paths), mostFiles)]
	names := f.words[:min(len(f.words), mostNames)]
	for _, name := range names {
		for _, file := range files {
			if c, is := f.unasked(name, file); is {
				return c, true
			}
		}
	}
	return call{}, false
}

// unasked is a call that looks for a name in a file, unless it was made.
func (f *found) unasked(name, file string) (call, bool) {
	if name[0] >= 'A' && name[0] <= 'Z' && strings.ToUpper(name) != name {
		return call{toolClass, object("file", file, "class", name)}, !f.asked[toolClass+" "+file+" "+name+"."]
	}
	return call{toolFunction, object("file", file, "function", name)}, !f.asked[toolFunction+" "+file+" "+name+"."]
}

// answer is the ranked list: the names that were shown or suggested, then the likeliest files.
func (f *found) answer(d *dice) action {
	const most = 10
	list := f.names[:min(len(f.names), most)]
	if len(list) == 0 {
		list = f.paths[:min(len(f.paths), mostFiles)]
	}
	return action{thought: d.pick(thoughts["answer"]) + "\n\n```\n" + strings.Join(list, "\n") + "\n```"}
}

// lose is a student's mistake in a search.
func (f *found) lose(d *dice) action {
	if f.ended {
		return f.answerBadly(d)
	}
	file := "src/main.py"
	if len(f.paths) > 0 {
		file = f.paths[d.IntN(len(f.paths))]
	}
	switch d.IntN(6) {
	case 0:
		return say(d, thoughts["find"], call{toolClass, object("file", strings.TrimSuffix(file, path.Ext(file)), "class", "Handler")})
	case 1:
		return say(d, thoughts["find"], call{toolFunction, object("file", file)})
	case 2:
		return say(d, thoughts["find"], call{"SearchCode", object("query", "TODO")})
	case 3:
		return say(d, thoughts["talk"])
	case 4:
		return say(d, thoughts["exit"], call{toolExit, "{}"})
	}
	return say(d, thoughts["structure"], call{toolImports, object("file", file)})
}

// answerBadly answers with files alone, in any order, or without a list.
func (f *found) answerBadly(d *dice) action {
	if d.chance(0.2) {
		return say(d, thoughts["talk"])
	}
	list := slices.Clone(f.paths[:min(len(f.paths), 2*mostFiles)])
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return action{thought: d.pick(thoughts["answer"]) + "\n\n```\n" + strings.Join(list, "\n") + "\n```"}
}
