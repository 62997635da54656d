// Package python writes canaries for pytest, unittest, and the runners of Django and SymPy.
package python

import (
	"fmt"
	"strings"

	"relabel/envs/verify/canary"
)

// pythonCanaries writes the Python code of canaries, in usual forms of tests. Each computes a
// number and compares it with the same or another number.
type pythonCanaries struct {
	*canary.Namer
	left     map[string]bool // keys of excluded canaries
	pytest   bool            // pytest runs them
	key      string          // of the next canaries
	canaries []canary.Test
	called   int // tests of the task that canaries call
}

func newPythonCanaries(g canary.Garden) *pythonCanaries {
	return &pythonCanaries{Namer: canary.NewNamer(g.Random), left: g.Left}
}

// under sets the key of the next canaries, and reports whether they are not excluded.
func (p *pythonCanaries) under(key string) bool {
	p.key = key
	return !p.left[key]
}

// must records the expected result of a canary by its name in the log. If it must fail, it shows
// proof, unless that is 0.
func (p *pythonCanaries) must(name string, fails bool, proof int) *canary.Test {
	p.canaries = append(p.canaries, canary.NewTest(name, p.key, fails, proof))
	return &p.canaries[len(p.canaries)-1]
}

// function draws the name of a test function or method.
func (p *pythonCanaries) function() string { return "test_" + p.Snake() }

// plain is a function with an assertion.
func (p *pythonCanaries) plain(file string, fails bool) string {
	name, s, variable := p.function(), p.Sum(), p.Pick(canary.Nouns)
	p.must(file+"::"+name, fails, s.Result)
	return fmt.Sprintf("def %s():\n    %s = %s\n    assert %s == %d, %s\n", name, variable, s.Code, variable, p.Claimed(s, fails), variable)
}

// raises is a function that expects an error with a text.
func (p *pythonCanaries) raises(file string, fails bool) string {
	name, s, variable := p.function(), p.Sum(), p.Pick(canary.Nouns)
	p.must(file+"::"+name, fails, s.Result)
	return fmt.Sprintf("def %s():\n    %s = \"%%dx\" %% (%s)\n    with pytest.raises(ValueError, match=\"base 10: '%dx'\"):\n        int(%s)\n",
		name, variable, s.Code, p.Claimed(s, fails), variable)
}

// parametrised is a function with two parameter values. The second may fail.
func (p *pythonCanaries) parametrised(file string, fails bool) string {
	name, argument, variable := p.function(), "given_"+p.Pick(canary.Nouns), p.Pick(canary.Nouns)
	a, b, c := p.Between(2011, 9973), p.Between(1009, 9973), p.Between(11, 997)
	good, bad := p.Between(3, 50), p.Between(51, 99)
	result := bad*a*b + c
	limit := result + 1
	if fails {
		limit = result - p.Between(0, 900)
	}
	p.must(fmt.Sprintf("%s::%s[%d]", file, name, good), false, 0)
	p.must(fmt.Sprintf("%s::%s[%d]", file, name, bad), fails, result)
	decorator := fmt.Sprintf("@pytest.mark.parametrize(%q, [%d, %d])\n", argument, good, bad)
	return decorator + fmt.Sprintf("def %s(%s):\n    %s = %s * %d * %d + %d\n    assert %s < %d, %s\n",
		name, argument, variable, argument, a, b, c, variable, limit, variable)
}

// class is a class of unittest with comparisons and the claims that content uses. Its keys begin
// with at. name returns the name of a method in the log.
func (p *pythonCanaries) class(at string, content []byte, name func(class, method string) string) string {
	class := p.Camel() + "Test"
	var methods []string
	if p.under(at) {
		for _, fails := range canary.Mix(p.Random, 3) {
			methods = append(methods, p.method(class, true, fails, name))
		}
	}
	claims := append(usedIn(unittestClaims, content, 2), usedIn(mockClaims, content, 0)...)
	methods = append(methods, p.methods(at, class, claims, name)...)
	if len(methods) == 0 {
		return ""
	}
	return fmt.Sprintf("class %s(unittest.TestCase):\n", class) + p.shuffled(methods)
}

// comparison draws one of unittest's assertions.
func (p *pythonCanaries) comparison(s canary.Sum, fails bool) string {
	claimed := p.Claimed(s, fails)
	if p.Random.IntN(2) == 0 {
		return fmt.Sprintf("assertEqual(%s, %d)", s.Code, claimed)
	}
	return fmt.Sprintf("assertIn(%s, [%d, %d])", s.Code, claimed, claimed+p.Between(1000, 2000))
}

// shuffled joins pieces of code in a random order.
func (p *pythonCanaries) shuffled(pieces []string) string {
	p.Shuffle(pieces)
	return strings.Join(pieces, "\n\n")
}
