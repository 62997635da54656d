package golang

import (
	"fmt"
	"regexp"
	"slices"

	"relabel/envs/verify/canary"
)

var (
	// goTestFunction finds the test functions of a file, with their bodies.
	goTestFunction = regexp.MustCompile(`(?ms)^func (Test\w*)\(\w+ \*testing\.T\)(.*?)^\}`)
	// goParallel finds that a test runs beside others: it would run beside the canary that calls it.
	goParallel = regexp.MustCompile(`(?m)^\t\w+\.Parallel\(\)`)
)

// calls writes canaries that call a test of a file before they fail: code under test that
// changes what becomes of the one test that calls it changes theirs, too. The tests are those of
// FAIL_TO_PASS, or else of PASS_TO_PASS, without those that run beside others.
func (c *goCode) calls(g canary.Garden, file string, content []byte) (code []string) {
	var there []string
	for _, m := range goTestFunction.FindAllSubmatch(content, -1) {
		if !goParallel.Match(m[2]) {
			there = append(there, string(m[1]))
		}
	}
	for _, ids := range [][]string{g.Task.FailToPass, g.Task.PassToPass} {
		declared := goFunctions(ids)
		for _, name := range there {
			if key := file + " calls " + name; c.called < canary.MaxCalled && slices.Contains(declared, "func "+name+"(") {
				c.called++
				if !g.Left[key] {
					code = append(code, c.callOf(key, name))
				}
			}
		}
		if c.called > 0 {
			break
		}
	}
	return code
}

// callOf is a function that calls a test, under a key. Where the test panics because it runs
// for the second time, the tests after it are to run nevertheless.
func (c *goCode) callOf(key, test string) string {
	name, s := c.function(), canary.DrawSum(c.Namer)
	c.must(name, true, s.Result)
	canary := &c.canaries[len(c.canaries)-1]
	canary.Key, canary.Calls = key, test
	recovered := "\tdefer func() {\n\t\tif err := recover(); err != nil {\n\t\t\tt.Error(err)\n\t\t}\n\t}()\n"
	return fmt.Sprintf("func %s(t *testing.T) {\n%s\t%s(t)\n\tif got := %s; got != %d {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n",
		name, recovered, test, s.Code, s.Result+c.Between(1, 900))
}
