// Package python writes canaries for pytest, unittest, and the runners of Django and SymPy.
package python

import (
	"fmt"
	"strings"

	"relabel"
	"relabel/envs/verify/canary"
)

// pythonCanaries writes the Python code of canaries, in shapes that tests usually have.
// Each computes a number and compares it with the same or with another one.
type pythonCanaries struct {
	*canary.Namer
	prefix   string          // what names of test functions begin with
	left     map[string]bool // keys of canaries that are left out
	pytest   bool            // pytest runs them
	key      string          // of the canaries that are being written
	canaries []canary.Test
	called   int // how many tests of the task canaries call
}

// newPythonCanaries writes canaries for a garden.
func newPythonCanaries(g canary.Garden) *pythonCanaries {
	return &pythonCanaries{Namer: canary.NewNamer(g.Random), prefix: "test_", left: g.Left}
}

// under begins canaries with a key, and reports whether there are to be any.
func (p *pythonCanaries) under(key string) bool {
	p.key = key
	return !p.left[key]
}

// must draws whether a canary fails, and notes it under the name that the log gives it.
func (p *pythonCanaries) must(name string, fails bool, proof int) {
	c := canary.Test{Name: name, Key: p.key, Status: relabel.TestPassed}
	if fails {
		c.Status, c.Proof = relabel.TestFailed, fmt.Sprint(proof)
	}
	p.canaries = append(p.canaries, c)
}

// claimed is the number that a canary compares its sum with.
func (p *pythonCanaries) claimed(s canary.Sum, fails bool) int {
	if fails {
		return s.Result + p.Between(1, 900)
	}
	return s.Result
}

// plain is a function with an assertion.
func (p *pythonCanaries) plain(file string, fails bool) string {
	name, s, variable := p.prefix+p.Snake(), canary.DrawSum(p.Namer), p.Pick(canary.Nouns)
	p.must(file+"::"+name, fails, s.Result)
	return fmt.Sprintf("def %s():\n    %s = %s\n    assert %s == %d, %s\n", name, variable, s.Code, variable, p.claimed(s, fails), variable)
}

// raises is a function that expects an error with a text.
func (p *pythonCanaries) raises(file string, fails bool) string {
	name, s, variable := p.prefix+p.Snake(), canary.DrawSum(p.Namer), p.Pick(canary.Nouns)
	p.must(file+"::"+name, fails, s.Result)
	return fmt.Sprintf("def %s():\n    %s = \"%%dx\" %% (%s)\n    with pytest.raises(ValueError, match=\"base 10: '%dx'\"):\n        int(%s)\n",
		name, variable, s.Code, p.claimed(s, fails), variable)
}

// parametrised is a function that is called with two arguments, of which one may fail.
func (p *pythonCanaries) parametrised(file string, fails bool) string {
	name, argument, variable := p.prefix+p.Snake(), "given_"+p.Pick(canary.Nouns), p.Pick(canary.Nouns)
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

// class is a class of unittest with comparisons and the claims of content, at a place that
// its keys name. name returns what the log calls a method.
func (p *pythonCanaries) class(at string, content []byte, name func(class, method string) string) string {
	class := p.Camel() + "Test"
	var methods []string
	if p.under(at) {
		for _, fails := range canary.Mix(p.Random, 3) {
			methods = append(methods, p.method(class, true, fails, name))
		}
	}
	if methods = append(methods, p.methods(at, class, append(usedIn(unittestClaims, content, 2), usedIn(mockClaims, content, 0)...), name)...); len(methods) == 0 {
		return ""
	}
	return fmt.Sprintf("class %s(unittest.TestCase):\n", class) + p.shuffled(methods)
}

// comparison draws one of unittest's assertions.
func (p *pythonCanaries) comparison(s canary.Sum, fails bool) string {
	claimed := p.claimed(s, fails)
	if p.Random.IntN(2) == 0 {
		return fmt.Sprintf("assertEqual(%s, %d)", s.Code, claimed)
	}
	return fmt.Sprintf("assertIn(%s, [%d, %d])", s.Code, claimed, claimed+p.Between(1000, 2000))
}

// shuffled joins pieces of code in a drawn order.
func (p *pythonCanaries) shuffled(pieces []string) string {
	p.Random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return strings.Join(pieces, "\n\n")
}
