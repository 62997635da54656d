package verify

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// calledTest is a test that a canary calls before it makes a comparison that does not hold:
// code under test that changes what becomes of the one test that calls it changes the canary.
type calledTest struct {
	class      string // "" for a function
	cases      bool   // the class is a test case of unittest
	name       string
	parameters string // the names of its fixtures, separated by commas
}

// maxCalled is how many tests of a task canaries call.
const maxCalled = 2

var (
	pythonTest      = regexp.MustCompile(`(?m)^([ \t]*)def[ \t]+(test\w*)\(([\w \t,]*)\)[ \t]*(?:->[^:\n]*)?:`)
	pythonDecorated = regexp.MustCompile(`(?:^|\n)[ \t]*[@)\]}][^\n]*\n$`)
)

// calledTests returns the tests of a file that ids name and that stand there without a
// decorator, in the order of the file.
func calledTests(content []byte, ids []string) []calledTest {
	chosen := strings.Join(ids, "\n")
	var tests []calledTest
	for _, m := range pythonTest.FindAllSubmatchIndex(content, -1) {
		test := calledTest{name: string(content[m[4]:m[5]]), parameters: strings.TrimSpace(string(content[m[6]:m[7]]))}
		if pythonDecorated.Match(content[:m[0]]) || !containsWord(chosen, test.name) {
			continue
		}
		if m[2] < m[3] && !test.method(content, m[0], chosen) {
			continue
		}
		tests = append(tests, test)
	}
	return tests
}

// method notes the class of a method that begins at a place of the file, and reports whether
// the ids name it.
func (t *calledTest) method(content []byte, at int, chosen string) bool {
	classes := pythonClass.FindAllSubmatchIndex(content[:at], -1)
	if len(classes) == 0 {
		return false
	}
	m := classes[len(classes)-1]
	self, fixtures, _ := strings.Cut(t.parameters, ",")
	if pythonTopLevel.Match(content[m[1]:at]) || strings.TrimSpace(self) != "self" {
		return false
	}
	t.class, t.parameters = string(content[m[2]:m[3]]), strings.TrimSpace(fixtures)
	body := content[m[0]:]
	if end := pythonTopLevel.FindIndex(content[m[1]:]); end != nil {
		body = content[m[0] : m[1]+end[0]]
	}
	t.cases = unittestUse.Match(body)
	return containsWord(chosen, t.class)
}

// calls writes canaries that call tests of a file: those of FAIL_TO_PASS, or else of
// PASS_TO_PASS. cases says that the runner knows test cases of unittest alone. It returns their
// code, and the classes among them.
func (p *pythonCanaries) calls(g garden, n neighbour, cases bool, name func(class, method string) string) (code, classes []string) {
	tests := calledTests(n.content, g.task.FailToPass)
	if len(tests) == 0 {
		tests = calledTests(n.content, g.task.PassToPass)
	}
	for _, t := range tests {
		t.cases = t.cases || cases
		if p.called == maxCalled || (cases && t.class == "") {
			continue
		}
		p.called++
		if !p.under(n.file + " calls " + path.Join(t.class, t.name)) {
			continue
		}
		if t.class == "" {
			code = append(code, p.callOf(t, path.Base(n.file)))
			continue
		}
		class, text := p.callIn(t, name)
		code, classes = append(code, text), append(classes, class)
	}
	return code, classes
}

// callOf is a function that calls a function of its file.
func (p *pythonCanaries) callOf(t calledTest, file string) string {
	function, s := p.prefix+p.snake(), drawSum(p.namer)
	p.must(file+"::"+function, true, s.result)
	return fmt.Sprintf("def %s(%s):\n    %s(%s)\n    assert %s == %d, %s\n", function, t.parameters, t.name, t.parameters, s.code, p.claimed(s, true), s.code)
}

// callIn is a class with a method that calls one of the class that it derives from.
func (p *pythonCanaries) callIn(t calledTest, name func(class, method string) string) (class, code string) {
	class, method, s := p.camel()+"Test", p.prefix+p.snake(), drawSum(p.namer)
	if !t.cases && strings.HasPrefix(t.class, "Test") {
		class = "Test" + p.camel()
	}
	p.must(name(class, method), true, s.result)
	claim := fmt.Sprintf("assert %s == %d, %s", s.code, p.claimed(s, true), s.code)
	if t.cases {
		claim = "self." + p.comparison(s, true)
	}
	parameters := strings.TrimSuffix("self, "+t.parameters, ", ")
	return class, withoutTests(class, t.class, fmt.Sprintf("    def %s(%s):\n        %s.%s(%s)\n        %s\n", method, parameters, t.class, t.name, parameters, claim))
}
