package python

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"relabel/envs/verify/canary"
)

// calledTest is a test that a canary calls before it fails: code under test that changes the result
// of the test that calls it also changes the canary's.
type calledTest struct {
	class      string // "" for a function
	cases      bool   // the class is a test case of unittest
	name       string
	parameters string // the names of its fixtures, separated by commas
}

var pythonTest = regexp.MustCompile(`(?m)^([ \t]*)def[ \t]+(test\w*)\(([\w \t,]*)\)[ \t]*(?:->[^:\n]*)?:`)

// calledTests returns the tests of a file, in its order, that ids name and that have no decorator.
func calledTests(content []byte, ids []string) []calledTest {
	chosen := wordsOf(ids)
	classes, tops := pythonClass.FindAllSubmatchIndex(content, -1), pythonTopLevel.FindAllIndex(content, -1)
	class, top := -1, 0     // the last class before a test, and the first top level statement after it
	cases := map[int]bool{} // by class: it is a test case of unittest
	var tests []calledTest
	for _, m := range pythonTest.FindAllSubmatchIndex(content, -1) {
		for class+1 < len(classes) && classes[class+1][0] < m[0] {
			class++
		}
		for top < len(tops) && tops[top][0] <= m[0] {
			top++
		}
		test := calledTest{name: string(content[m[4]:m[5]]), parameters: strings.TrimSpace(string(content[m[6]:m[7]]))}
		if decorated(content[:m[0]]) || !chosen[test.name] {
			continue
		}
		if m[2] < m[3] {
			if class < 0 || top == 0 || tops[top-1][0] > classes[class][0] || !test.method(content, classes[class], chosen) {
				continue
			}
			if _, known := cases[class]; !known {
				end := len(content)
				if top < len(tops) {
					end = tops[top][0]
				}
				cases[class] = unittestUse.Match(content[classes[class][0]:end])
			}
			test.cases = cases[class]
		}
		tests = append(tests, test)
	}
	return tests
}

// decorated reports whether the last line of a text ends a decorator.
func decorated(before []byte) bool {
	lines := bytes.TrimSuffix(before, []byte("\n"))
	last := bytes.TrimLeft(lines[bytes.LastIndexByte(lines, '\n')+1:], " \t")
	return len(last) > 0 && strings.IndexByte("@)]}", last[0]) >= 0
}

// method sets the class of a method, a match of pythonClass. It reports whether ids name the class.
func (t *calledTest) method(content []byte, class []int, chosen map[string]bool) bool {
	self, fixtures, _ := strings.Cut(t.parameters, ",")
	t.class, t.parameters = string(content[class[2]:class[3]]), strings.TrimSpace(fixtures)
	return strings.TrimSpace(self) == "self" && chosen[t.class]
}

// calls writes canaries that call tests of a file, of FAIL_TO_PASS or otherwise of PASS_TO_PASS.
// cases: the runner only runs test cases of unittest. It returns their code and their classes.
func (p *pythonCanaries) calls(g canary.Garden, n neighbour, cases bool, name func(class, method string) string) (code, classes []string) {
	tests := calledTests(n.content, g.Task.FailToPass)
	if len(tests) == 0 {
		tests = calledTests(n.content, g.Task.PassToPass)
	}
	for _, t := range tests {
		if p.called == canary.MaxCalled || (cases && t.class == "") {
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
		class, text := p.callIn(t, cases || t.cases, name)
		code, classes = append(code, text), append(classes, class)
	}
	return code, classes
}

// callOf is a function that calls a test function of its file.
func (p *pythonCanaries) callOf(t calledTest, file string) string {
	function, s := p.function(), p.Sum()
	p.must(file+"::"+function, true, s.Result).Calls = file + "::" + t.name
	return fmt.Sprintf("def %s(%s):\n    %s(%s)\n    assert %s == %d, %s\n", function, t.parameters, t.name, t.parameters, s.Code, p.Claimed(s, true), s.Code)
}

// callIn is a class with a method that calls one of its base class. cases: both are test cases of
// unittest. Its name begins with the base's, so unittest, which sorts classes by name, runs the
// task's own test first. A test that cannot run twice then only fails in the canary.
func (p *pythonCanaries) callIn(t calledTest, cases bool, name func(class, method string) string) (class, code string) {
	class, method, s := t.class+p.Camel(), p.function(), p.Sum()
	p.must(name(class, method), true, s.Result).Calls = name(t.class, t.name)
	claim := fmt.Sprintf("assert %s == %d, %s", s.Code, p.Claimed(s, true), s.Code)
	if cases {
		claim = "self." + p.comparison(s, true)
	}
	parameters := strings.TrimSuffix("self, "+t.parameters, ", ")
	return class, withoutTests(class, t.class, fmt.Sprintf("    def %s(%s):\n        %s.%s(%s)\n        %s\n", method, parameters, t.class, t.name, parameters, claim))
}
