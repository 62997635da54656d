package verify

import (
	"path"
	"slices"
	"strings"
)

// unittestCanaries are canaries for unittest and for Django's runner, which both are told
// modules by their dotted names; sympyCanaries are those for SymPy's runner.
type (
	unittestCanaries struct{}
	sympyCanaries    struct{}
)

func init() {
	canaryMakers["unittest"] = unittestCanaries{}
	canaryMakers["django"] = unittestCanaries{}
	canaryMakers["sympy"] = sympyCanaries{}
}

// unittestStops are options that end a run at its first failure or choose tests.
var unittestStops = map[string]bool{"-f": true, "--failfast": true, "-k": true, "--tag": true, "--exclude-tag": true}

func (unittestCanaries) plant(g garden) (planting, bool) {
	call, ok := findCall(g.command, callsUnittest)
	neighbours := pythonNeighbours(g)
	if !ok || len(neighbours) == 0 || call.has(unittestStops) {
		return planting{}, false
	}
	p := newPythonCanaries(g)
	file := canaryFile(g, p.namer, neighbours[0].file)
	code := p.class("class", contentOf(neighbours), unittestMethod)
	result := planting{files: []plantedFile{{path: file, content: "import unittest\n\n\n" + code}}}
	added := unittestName(call, file)
	for _, n := range neighbours {
		if below, names, ok := unittestBelow(p, g, call, n); ok {
			result.files, added = append(result.files, below), append(added, names...)
		}
	}
	result.canaries, result.command = p.canaries, call.with(added...)
	if call.alone {
		result.failure = 1
	}
	return result, true
}

// unittestMethod is what unittest calls a method, at the end of its name.
func unittestMethod(class, method string) string { return class + "." + method }

// unittestBelow is a file of the task's tests with canaries below them, and how the call is
// told to run them too.
func unittestBelow(p *pythonCanaries, g garden, call runnerCall, n neighbour) (below plantedFile, names []string, ok bool) {
	if !n.takesBelow(g) {
		return plantedFile{}, nil, false
	}
	var code []string
	for _, group := range classGroups(n.content, g.task.FailToPass) {
		if class, text := p.derived(n.file, n.content, group, true, unittestMethod); text != "" {
			code, names = append(code, text), append(names, unittestClass(call, n.file, class)...)
		}
	}
	called, classes := p.calls(g, n, true, unittestMethod)
	code = append(code, called...)
	for _, class := range classes {
		names = append(names, unittestClass(call, n.file, class)...)
	}
	return n.below(g, p.namer, code), names, len(code) > 0
}

// unittestClass is how the call is told to run a class of a file too; nothing where it runs
// the whole file, or all files of a folder.
func unittestClass(call runnerCall, file, class string) []string {
	module := unittestName(call, file)
	if len(module) == 0 || strings.HasSuffix(module[0], ".py") {
		return nil
	}
	parts := slices.ContainsFunc(call.names(), func(name string) bool { return strings.HasPrefix(name, module[0]+".") })
	if !parts || slices.Contains(call.names(), module[0]) {
		return nil
	}
	return []string{module[0] + "." + class}
}

// callsUnittest reports whether a word calls unittest or a runner of Django's.
func callsUnittest(words []word, at int) bool {
	if words[at].text == "unittest" && at > 0 && words[at-1].text == "-m" {
		return true
	}
	return path.Base(words[at].text) == "runtests.py" || (words[at].text == "test" && at > 0 && path.Base(words[at-1].text) == "manage.py")
}

// has reports whether the call has one of the options.
func (c runnerCall) has(options map[string]bool) bool {
	for _, w := range c.args {
		name, _, _ := strings.Cut(w.text, "=")
		if options[name] {
			return true
		}
	}
	return false
}

// unittestName is how the call is told to run a file too; nothing where it looks for tests
// itself.
func unittestName(call runnerCall, file string) []string {
	names := call.names()
	if len(names) == 0 || names[0] == "discover" {
		return nil
	}
	if strings.HasSuffix(names[0], ".py") {
		return []string{file}
	}
	if folder := path.Clean(call.folder()); folder != "." {
		file = strings.TrimPrefix(file, folder+"/")
	}
	if call.runs("runtests.py") {
		return []string{djangoLabel(file)}
	}
	return []string{strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")}
}

// names returns the arguments that are neither options nor numbers, such as that of
// --parallel.
func (c runnerCall) names() []string {
	var names []string
	for _, w := range c.args {
		if !strings.HasPrefix(w.text, "-") && strings.Trim(w.text, "0123456789") != "" && !strings.ContainsAny(w.text, "<>") {
			names = append(names, w.text)
		}
	}
	return names
}

// runs reports whether the call is one of the program.
func (c runnerCall) runs(program string) bool {
	end := c.end
	if len(c.args) > 0 {
		end = c.args[0].start
	}
	return strings.HasSuffix(strings.TrimRight(c.command[:end], ` '"`), program)
}

func (sympyCanaries) plant(g garden) (planting, bool) {
	call, ok := findCall(g.command, func(words []word, at int) bool { return strings.HasSuffix("/"+words[at].text, "/bin/test") })
	neighbour := firstTestFile(g)
	if names := call.names(); neighbour == "" && len(names) > 0 && g.has(names[0]) {
		neighbour = names[0]
	}
	if !ok || neighbour == "" || call.has(unittestStops) {
		return planting{}, false
	}
	p := newPythonCanaries(g)
	file := canaryFile(g, p.namer, neighbour)
	var code []string
	for _, fails := range mix(p.random, 4) {
		code = append(code, p.plain("", fails))
	}
	for i, c := range p.canaries {
		p.canaries[i].name = strings.TrimPrefix(c.name, "::")
	}
	result := planting{files: []plantedFile{{path: file, content: strings.Join(code, "\n\n")}}, command: g.command, canaries: p.canaries}
	if len(call.names()) > 0 {
		result.command = call.with(file)
	}
	if call.alone {
		result.failure = 1
	}
	return result, true
}
