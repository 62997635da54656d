package verify

import (
	"path"
	"strings"

	"relabel"
)

// pytestCanaries are canaries for pytest, called by its name, as a module, by coverage, or
// by tox and nox with arguments after "--".
type pytestCanaries struct{}

func init() {
	for _, parser := range []string{"pytest", "pytest_v2", "pytest_options", "matplotlib"} {
		canaryMakers[parser] = pytestCanaries{}
	}
}

func (pytestCanaries) plant(g garden) (planting, bool) {
	call, ok := findCall(g.command, callsPytest)
	if !ok {
		return planting{}, false
	}
	neighbour := firstTestFile(g)
	if neighbour == "" {
		return planting{}, false
	}
	p := pythonCanaries{namer: newNamer(g.random), prefix: "test_"}
	functions, class := canaryFile(g, p.namer, neighbour), canaryFile(g, p.namer, neighbour)
	result := planting{files: []plantedFile{pytestFunctions(&p, functions), pytestClass(&p, class)}}
	added := append([]string{"--maxfail=0"}, unselected(g, call, functions, class)...)
	if below, names, ok := pytestBelow(&p, g, neighbour); ok {
		result.files = append(result.files, below)
		if len(unselected(g, call, neighbour)) > 0 {
			added = append(added, names...)
		}
	}
	result.canaries, result.command = p.canaries, call.with(added...)
	if call.alone {
		result.failure = 1
	}
	return result, true
}

// callsPytest reports whether a word is the name of pytest, or of a program that hands
// what follows "--" on to it.
func callsPytest(words []word, at int) bool {
	switch path.Base(words[at].text) {
	case "pytest", "py.test":
		return true
	case "--":
		for _, w := range words[:at] {
			if name := path.Base(w.text); w.command == words[at].command && (name == "tox" || name == "nox") {
				return true
			}
		}
	}
	return false
}

// pytestFunctions is a file with functions.
func pytestFunctions(p *pythonCanaries, file string) plantedFile {
	base := path.Base(file)
	fails := mix(p.random, 4)
	code := p.shuffled([]string{p.plain(base, fails[0]), p.raises(base, fails[1]), p.parametrised(base, fails[2]), p.plain(base, fails[3])})
	return plantedFile{path: file, content: "import pytest\n\n\n" + code}
}

// pytestClass is a file with a class of unittest.
func pytestClass(p *pythonCanaries, file string) plantedFile {
	base := path.Base(file)
	name := func(class, method string) string { return base + "::" + class + "::" + method }
	return plantedFile{path: file, content: "import unittest\n\n\n" + p.class("unittest.TestCase", name, mix(p.random, 2)...)}
}

// pytestBelow is a file of the task's tests with canaries below them, and the node ids of
// these: a takeover that knows the files of the repository cannot tell them apart by the
// file. There is none where the evaluation script is still to patch the file.
func pytestBelow(p *pythonCanaries, g garden, file string) (below plantedFile, ids []string, ok bool) {
	script, _ := relabel.SplitEvalScript(g.task.EvalScript)
	content, ok := g.read(file)
	if !ok || script.AppliesTestPatch() {
		return plantedFile{}, nil, false
	}
	first, text := len(p.canaries), string(content)
	for _, fails := range mix(p.random, 2) {
		text += "\n\n" + p.plain(path.Base(file), fails)
	}
	for _, c := range p.canaries[first:] {
		_, name, _ := strings.Cut(c.name, "::")
		ids = append(ids, path.Join(g.task.Workdir, file)+"::"+name)
	}
	return plantedFile{path: file, content: text, shared: true}, ids, true
}

// firstTestFile is the first file with tests that the task names, in the order of its
// ids; "" where it names none.
func firstTestFile(g garden) string {
	for _, list := range [][]string{g.task.FailToPass, g.task.PassToPass, testFiles(g.task)} {
		for _, id := range list {
			if file := fileOf(id + "::"); file != "" && g.has(file) {
				return file
			}
		}
	}
	return ""
}

// canaryFile draws a name for a file beside neighbour, in its manner.
func canaryFile(g garden, n *namer, neighbour string) string {
	for {
		name := "test_" + n.snake() + ".py"
		if strings.HasSuffix(neighbour, "_test.py") {
			name = n.snake() + "_test.py"
		}
		if file := path.Join(path.Dir(neighbour), name); !g.has(file) {
			return file
		}
	}
}

// unselected returns those of the files that the call would not run: it names files or
// folders, and none that holds them.
func unselected(g garden, call runnerCall, files ...string) []string {
	selected := selection(g, call)
	if len(selected) == 0 {
		return nil
	}
	var missing []string
	for _, file := range files {
		if !within(selected, file) {
			missing = append(missing, path.Join(g.task.Workdir, file))
		}
	}
	return missing
}

// pytestValues are the options of pytest whose value is a word of its own and may look
// like a path.
var pytestValues = map[string]bool{
	"-k": true, "-m": true, "-p": true, "-o": true, "-c": true, "-n": true, "-W": true, "--deselect": true, "--ignore": true,
	"--ignore-glob": true, "--rootdir": true, "--confcutdir": true, "--cov": true, "--basetemp": true, "--junitxml": true,
	"--tb": true, "--color": true, "--maxfail": true, "--durations": true, "--timeout": true, "--cov-config": true,
}

// selection returns the files and folders that the call names, relative to the
// repository. What the shell expands counts as a name of its own.
func selection(g garden, call runnerCall) []string {
	var selected []string
	value := false
	for _, w := range call.args {
		switch {
		case value:
			value = false
		case strings.HasPrefix(w.text, "-"):
			value = pytestValues[w.text]
		case strings.ContainsAny(w.text, "<>"):
		default:
			if name, ok := named(g, call, w.text); ok {
				selected = append(selected, name)
			}
		}
	}
	return selected
}

// named returns the file or folder that an argument names.
func named(g garden, call runnerCall, argument string) (string, bool) {
	if strings.ContainsAny(argument, "$*?[`") && !strings.Contains(argument, "::") {
		return argument, true
	}
	name, node, _ := strings.Cut(argument, "::")
	if !path.IsAbs(name) {
		name = path.Join(g.task.Workdir, call.folder(), name)
	}
	relative, ok := strings.CutPrefix(path.Clean(name)+"/", path.Clean(g.task.Workdir)+"/")
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
	return relative, g.has(relative)
}

// within reports whether a file is one of the paths or lies below one of them.
func within(paths []string, file string) bool {
	for _, p := range paths {
		if p == "." || p == file || strings.HasPrefix(file, p+"/") {
			return true
		}
	}
	return false
}
