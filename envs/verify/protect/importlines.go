package protect

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"relabel/gitdiff"
)

// importLine is a line that may import a module.
type importLine struct {
	file, text string
}

// importLines reads the output of importersScript.
func importLines(tree string, output []byte) []importLine {
	var lines []importLine
	for line := range strings.Lines(string(output)) {
		if file, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00"); ok {
			lines = append(lines, importLine{strings.TrimPrefix(file, tree+":"), text})
		}
	}
	return lines
}

// patchedLines returns the lines that a patch adds.
func patchedLines(patch string) []importLine {
	files, _ := gitdiff.Parse(patch) // tree.CheckPatches reports the error
	var lines []importLine
	for _, f := range files {
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op == gitdiff.Added {
					lines = append(lines, importLine{f.New, l.Text})
				}
			}
		}
	}
	return lines
}

var (
	pythonFrom   = regexp.MustCompile(`^\s*(?:>>> )?from\s+(\.*)([\w.]*)\s+c?import\s+(.*)$`)
	pythonImport = regexp.MustCompile(`^\s*(?:>>> )?c?import\s+(.*)$`)
	pythonNames  = regexp.MustCompile(`^\s*\w+(\s+as\s+\w+)?(\s*,\s*\w+(\s+as\s+\w+)?)*\s*,?\s*\)?\s*(#.*)?$`)
	pythonName   = regexp.MustCompile(`[\w.]+`)
	quotedText   = regexp.MustCompile(`["'` + "`" + `]([^"'` + "`" + `\s]+)["'` + "`" + `]`)
	settingValue = regexp.MustCompile(`[\w./-]+`)
)

// imports reports whether a line may import a module or folder, or names it in a string. A single
// name may be part of a longer import.
func (l importLine) imports(unit string) bool {
	return slices.ContainsFunc(l.targets(path.Base(unit)), func(target string) bool {
		return leadsTo(target, unit, path.Ext(l.file) == ".go")
	})
}

// words returns the words of a line, which may contain hyphens.
func (l importLine) words() []string {
	return strings.FieldsFunc(l.text, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// leadsTo reports whether a module's path is in a unit: the unit ends with the path or with its
// first parts. whole: the path may begin with the name of the repository's module.
func leadsTo(target, unit string, whole bool) bool {
	for ; target != "." && target != "/"; target = path.Dir(target) {
		if target == unit || strings.HasSuffix(unit, "/"+target) || whole && strings.HasSuffix(target, "/"+unit) {
			return path.Base(target) == path.Base(unit)
		}
	}
	return false
}

// targets returns the paths of the modules that a line may import.
func (l importLine) targets(word string) []string {
	switch path.Ext(l.file) {
	case ".py", ".pyi", ".pyx":
		return l.pythonTargets(word)
	case ".toml", ".cfg", ".ini", ".in", ".yml", ".yaml":
		var targets []string
		for _, value := range settingValue.FindAllString(l.text, -1) {
			targets = append(targets, dotted(value))
		}
		return targets
	}
	var targets []string
	for _, m := range quotedText.FindAllStringSubmatch(l.text, -1) {
		name, _ := moduleOf(m[1])
		if strings.HasPrefix(name, ".") {
			name = path.Join(path.Dir(l.file), name)
		}
		targets = append(targets, strings.TrimSuffix(strings.TrimLeft(name, "@~#/"), "/index"))
	}
	return targets
}

// pythonTargets returns the paths of the modules that a line of Python may import.
func (l importLine) pythonTargets(word string) []string {
	var targets []string
	if m := pythonFrom.FindStringSubmatch(l.text); m != nil {
		from := strings.ReplaceAll(m[2], ".", "/")
		if dots := len(m[1]); dots > 0 {
			from = path.Join(path.Dir(l.file), strings.Repeat("../", dots-1), from)
		}
		targets = append(targets, from)
		for _, name := range pythonName.FindAllString(m[3], -1) {
			targets = append(targets, path.Join(from, name))
		}
		return targets
	}
	if m := pythonImport.FindStringSubmatch(l.text); m != nil {
		for _, name := range pythonName.FindAllString(m[1], -1) {
			targets = append(targets, strings.ReplaceAll(name, ".", "/"))
		}
		return targets
	}
	if pythonNames.MatchString(l.text) {
		return []string{word}
	}
	for _, m := range quotedText.FindAllStringSubmatch(l.text, -1) {
		if strings.Contains(m[1], ".") || m[1] == word {
			targets = append(targets, dotted(m[1]))
		}
	}
	return targets
}

// dotted returns the path of a dotted name, without the part after a colon.
func dotted(name string) string {
	name, _, _ = strings.Cut(name, ":")
	if module, ok := moduleOf(name); ok || strings.Contains(name, "/") {
		return path.Clean(module)
	}
	return strings.ReplaceAll(name, ".", "/")
}
