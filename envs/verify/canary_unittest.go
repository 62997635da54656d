package verify

import (
	"path"
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
	neighbour := firstTestFile(g)
	if neighbour == "" {
		neighbour = unittestFile(g)
	}
	if !ok || neighbour == "" || call.has(unittestStops) {
		return planting{}, false
	}
	p := pythonCanaries{namer: newNamer(g.random), prefix: "test_"}
	file := canaryFile(g, p.namer, neighbour)
	name := func(class, method string) string { return class + "." + method }
	content, _ := g.read(neighbour)
	code := p.shuffled([]string{p.claims(name, content), p.class("unittest.TestCase", name, mix(p.random, 3)...)})
	result := planting{
		files:   []plantedFile{{path: file, content: "import unittest\n\n\n" + code}},
		command: call.with(unittestName(call, file)...), canaries: p.canaries,
	}
	if call.alone {
		result.failure = 1
	}
	return result, true
}

// unittestFile is the file of the first test id, such as tests.test_add.AddTest.test_add or
// test_add (adding.tests.AddTest); "" where there is none of its name.
func unittestFile(g garden) string {
	for _, id := range g.task.FailToPass {
		dotted := id
		if m := unittestID.FindStringSubmatch(id); m != nil {
			dotted = m[2]
		}
		for parts := strings.Split(dotted, "."); len(parts) > 0; parts = parts[:len(parts)-1] {
			for _, root := range []string{".", "tests", "src"} {
				if file := path.Join(root, strings.Join(parts, "/")+".py"); g.has(file) {
					return file
				}
			}
		}
	}
	return ""
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
	p := pythonCanaries{namer: newNamer(g.random), prefix: "test_"}
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
