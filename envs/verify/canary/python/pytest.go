package python

import (
	"path"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
)

// Pytest are canaries for pytest, called by name, as a module, by coverage, or by tox and nox with
// arguments after "--".
type Pytest struct{}

// Plant writes the canaries of a run.
func (Pytest) Plant(g canary.Garden) (canary.Planting, bool) {
	call, ok := testcmd.FindCall(g.Command, callsPytest)
	if !ok {
		return canary.Planting{}, false
	}
	neighbours := pythonNeighbours(g)
	if len(neighbours) == 0 {
		return canary.Planting{}, false
	}
	p, content := newPythonCanaries(g), contentOf(neighbours)
	p.pytest = true
	first := neighbours[0].file
	functions, class := canaryFile(g, p.Namer, first), canaryFile(g, p.Namer, first)
	result := canary.Planting{Files: []canary.File{pytestFunctions(p, functions, content), pytestClass(p, class, content)}}
	added := append([]string{"--maxfail=0"}, unselected(g, call, functions, class)...)
	for i, n := range neighbours {
		below, names, ok := pytestBelow(p, g, n, i == 0)
		if !ok {
			continue
		}
		result.Files = append(result.Files, below)
		if len(unselected(g, call, n.file)) > 0 {
			added = append(added, names...)
		}
	}
	result.Canaries, result.Command = p.canaries, call.With(added...)
	if call.Alone {
		result.Failure = 1
	}
	return result, true
}

// callsPytest reports whether a word is the name of pytest, or the "--" of a program that passes
// its arguments on to pytest.
func callsPytest(words []testcmd.Word, at int) bool {
	switch path.Base(words[at].Text) {
	case "pytest", "py.test":
		return true
	case "--":
		for _, w := range words[:at] {
			if name := path.Base(w.Text); w.Command == words[at].Command && (name == "tox" || name == "nox") {
				return true
			}
		}
	}
	return false
}

// pytestFunctions is a file with functions and with the claims that content uses.
func pytestFunctions(p *pythonCanaries, file string, content []byte) canary.File {
	base := path.Base(file)
	var code []string
	if p.under("functions") {
		fails := canary.Mix(p.Random, 4)
		code = []string{p.plain(base, fails[0]), p.raises(base, fails[1]), p.parametrised(base, fails[2]), p.plain(base, fails[3])}
	}
	claims := append(usedIn(pytestClaims, content, 1), usedIn(mockClaims, content, 0)...)
	code = append(code, p.functions("function", file, "(AssertionError, pytest.fail.Exception)", claims)...)
	return canary.File{Path: file, Content: "import pytest\n\n\n" + p.shuffled(code)}
}

// pytestClass is a file with a class of unittest and the claims that content uses.
func pytestClass(p *pythonCanaries, file string, content []byte) canary.File {
	return canary.File{Path: file, Content: "import unittest\n\n\n" + p.class("class", content, pytestMethod(file))}
}

// pytestMethod returns the names of methods in pytest's log.
func pytestMethod(file string) func(class, method string) string {
	return func(class, method string) string { return path.Base(file) + "::" + class + "::" + method }
}

// pytestBelow is a file of the task's tests with canaries at its end, so that a takeover cannot
// distinguish them by the file, and the canaries' node ids. plain adds functions in any case.
func pytestBelow(p *pythonCanaries, g canary.Garden, n neighbour, plain bool) (below canary.File, ids []string, ok bool) {
	if !n.takesBelow(g) {
		return canary.File{}, nil, false
	}
	first, code := len(p.canaries), []string(nil)
	if plain && p.under(n.file) {
		for _, fails := range canary.Mix(p.Random, 2) {
			code = append(code, p.plain(path.Base(n.file), fails))
		}
	}
	code = append(code, p.functions(n.file, n.file, "AssertionError", helperClaims(n.content, n.content))...)
	called, _ := p.calls(g, n, false, pytestMethod(n.file))
	code = append(code, called...)
	for _, c := range p.canaries[first:] {
		_, name, _ := strings.Cut(c.Name, "::")
		ids = append(ids, path.Join(g.Task.Workdir, n.file)+"::"+name)
	}
	for _, group := range classGroups(n.content, g.Task.FailToPass) {
		class, text := p.derived(n.file, n.content, group, false, pytestMethod(n.file))
		if text != "" {
			code, ids = append(code, text), append(ids, path.Join(g.Task.Workdir, n.file)+"::"+class)
		}
	}
	if len(code) == 0 {
		return canary.File{}, nil, false
	}
	return n.below(g, p.Namer, code), ids, true
}

// unselected returns the files that the call would not run: it names other files or folders.
func unselected(g canary.Garden, call testcmd.Call, files ...string) []string {
	selected := selection(g, call)
	if len(selected) == 0 {
		return nil
	}
	var missing []string
	for _, file := range files {
		if !within(selected, file) {
			missing = append(missing, path.Join(g.Task.Workdir, file))
		}
	}
	return missing
}

// pytestValues are the options of pytest whose value is a separate word.
var pytestValues = map[string]bool{
	"-k": true, "-m": true, "-p": true, "-o": true, "-c": true, "-n": true, "-W": true, "--deselect": true, "--ignore": true,
	"--ignore-glob": true, "--rootdir": true, "--confcutdir": true, "--cov": true, "--basetemp": true, "--junitxml": true,
	"--tb": true, "--color": true, "--maxfail": true, "--durations": true, "--timeout": true, "--cov-config": true,
}

// selection returns the files and folders that the call names, relative to the repository. A word
// that the shell expands counts as a name.
func selection(g canary.Garden, call testcmd.Call) []string {
	var selected []string
	value := false
	for _, w := range call.Args {
		switch {
		case value:
			value = false
		case strings.HasPrefix(w.Text, "-"):
			value = pytestValues[w.Text]
		case strings.ContainsAny(w.Text, "<>"):
		default:
			if name, ok := named(g, call, w.Text); ok {
				selected = append(selected, name)
			}
		}
	}
	return selected
}

// named returns the file or folder that an argument names.
func named(g canary.Garden, call testcmd.Call, argument string) (string, bool) {
	if strings.ContainsAny(argument, "$*?[`") && !strings.Contains(argument, "::") {
		return argument, true
	}
	name, node, _ := strings.Cut(argument, "::")
	if !path.IsAbs(name) {
		name = path.Join(g.Task.Workdir, call.Folder(), name)
	}
	relative, ok := strings.CutPrefix(path.Clean(name)+"/", path.Clean(g.Task.Workdir)+"/")
	if !ok {
		return "", false
	}
	relative = strings.TrimSuffix(relative, "/")
	if relative == "" {
		return ".", true
	}
	if node != "" {
		return relative + "::", true
	}
	return relative, g.Has(relative)
}

// within reports whether a file is one of the paths or below one of them.
func within(paths []string, file string) bool {
	for _, p := range paths {
		if p == "." || p == file || strings.HasPrefix(file, p+"/") {
			return true
		}
	}
	return false
}
