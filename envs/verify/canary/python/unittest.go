package python

import (
	"path"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
)

// Unittest are canaries for unittest and Django's runner, which take dotted names of modules.
// Sympy are canaries for SymPy's runner.
type (
	Unittest struct{}
	Sympy    struct{}
)

// unittestStops are options that end a run at its first failure or select tests.
var unittestStops = map[string]bool{"-f": true, "--failfast": true, "-k": true, "--tag": true, "--exclude-tag": true}

// Plant writes the canaries of a run.
func (Unittest) Plant(g canary.Garden) (canary.Planting, bool) {
	call, ok := testcmd.FindCall(g.Command, callsUnittest)
	neighbours := pythonNeighbours(g)
	if !ok || len(neighbours) == 0 || call.Has(unittestStops) {
		return canary.Planting{}, false
	}
	p := newPythonCanaries(g)
	file := canaryFile(g, p.Namer, neighbours[0].file)
	code := p.class("class", contentOf(neighbours), unittestMethod)
	result := canary.Planting{Files: []canary.File{{Path: file, Content: "import unittest\n\n\n" + code}}}
	added := unittestName(call, file)
	for _, n := range neighbours {
		if below, names, ok := unittestBelow(p, g, call, n); ok {
			result.Files, added = append(result.Files, below), append(added, names...)
		}
	}
	result.Canaries, result.Command = p.canaries, call.With(added...)
	if call.Alone {
		result.Failure = 1
	}
	return result, true
}

// unittestMethod is the end of a method's name in unittest's log.
func unittestMethod(class, method string) string { return class + "." + method }

// unittestBelow is a file of the task's tests with canaries at its end, and the arguments with
// which the call runs them.
func unittestBelow(p *pythonCanaries, g canary.Garden, call testcmd.Call, n neighbour) (below canary.File, names []string, ok bool) {
	if !n.takesBelow(g) {
		return canary.File{}, nil, false
	}
	var code []string
	for _, group := range classGroups(n.content, g.Task.FailToPass) {
		if class, text := p.derived(n.file, n.content, group, true, unittestMethod); text != "" {
			code, names = append(code, text), append(names, unittestClass(call, n.file, class)...)
		}
	}
	called, classes := p.calls(g, n, true, unittestMethod)
	code = append(code, called...)
	for _, class := range classes {
		names = append(names, unittestClass(call, n.file, class)...)
	}
	return n.below(g, p.Namer, code), names, len(code) > 0
}

// unittestClass returns the arguments with which the call also runs a class of a file; none if it
// already runs the file.
func unittestClass(call testcmd.Call, file, class string) []string {
	module := unittestName(call, file)
	if len(module) == 0 || strings.HasSuffix(module[0], ".py") {
		return nil
	}
	parts := slices.ContainsFunc(call.Names(), func(name string) bool { return strings.HasPrefix(name, module[0]+".") })
	if !parts || slices.Contains(call.Names(), module[0]) {
		return nil
	}
	return []string{module[0] + "." + class}
}

// callsUnittest reports whether a word calls unittest or a runner of Django's.
func callsUnittest(words []testcmd.Word, at int) bool {
	if words[at].Text == "unittest" && at > 0 && words[at-1].Text == "-m" {
		return true
	}
	return path.Base(words[at].Text) == "runtests.py" || (words[at].Text == "test" && at > 0 && path.Base(words[at-1].Text) == "manage.py")
}

// unittestName returns the arguments with which the call also runs a file; none if it discovers
// tests.
func unittestName(call testcmd.Call, file string) []string {
	names := call.Names()
	if len(names) == 0 || names[0] == "discover" {
		return nil
	}
	if strings.HasSuffix(names[0], ".py") {
		return []string{file}
	}
	if folder := path.Clean(call.Folder()); folder != "." {
		file = strings.TrimPrefix(file, folder+"/")
	}
	if call.Runs("runtests.py") {
		return []string{testcmd.DjangoLabel(file)}
	}
	return []string{strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")}
}

// Plant writes the canaries of a run.
func (Sympy) Plant(g canary.Garden) (canary.Planting, bool) {
	call, ok := testcmd.FindCall(g.Command, func(words []testcmd.Word, at int) bool { return strings.HasSuffix("/"+words[at].Text, "/bin/test") })
	neighbour := firstTestFile(g)
	if names := call.Names(); neighbour == "" && len(names) > 0 && g.Has(names[0]) {
		neighbour = names[0]
	}
	if !ok || neighbour == "" || call.Has(unittestStops) {
		return canary.Planting{}, false
	}
	p := newPythonCanaries(g)
	file := canaryFile(g, p.Namer, neighbour)
	var code []string
	for _, fails := range canary.Mix(p.Random, 4) {
		code = append(code, p.plain("", fails))
	}
	for i, c := range p.canaries {
		p.canaries[i].Name = strings.TrimPrefix(c.Name, "::")
	}
	result := canary.Planting{Files: []canary.File{{Path: file, Content: strings.Join(code, "\n\n")}}, Command: g.Command, Canaries: p.canaries}
	if len(call.Names()) > 0 {
		result.Command = call.With(file)
	}
	if call.Alone {
		result.Failure = 1
	}
	return result, true
}
