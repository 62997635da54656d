package golang

import (
	"fmt"
	"regexp"
	"slices"

	"relabel/envs/verify/canary"
)

var (
	// goTestFunction matches the test functions of a file, with their bodies.
	goTestFunction = regexp.MustCompile(`(?ms)^func (Test\w*)\(\w+ \*testing\.T\)(.*?)^\}`)
	// goParallel matches a parallel test, which would run beside the canary that calls it.
	goParallel = regexp.MustCompile(`(?m)^\t\w+\.Parallel\(\)`)
)

// calls writes canaries that call a test of a file before they fail: code under test that changes
// the result of the test that calls it also changes theirs. They call tests of FAIL_TO_PASS,
// otherwise of PASS_TO_PASS, but no parallel tests.
func (c *goCode) calls(g canary.Garden, file string, content []byte) (code []string) {
	tests := goTestFunction.FindAllSubmatch(content, -1)
	for _, ids := range [][]string{g.Task.FailToPass, g.Task.PassToPass} {
		declared := goFunctions(ids)
		for _, m := range tests {
			name := string(m[1])
			if c.called == canary.MaxCalled || goParallel.Match(m[2]) || !slices.Contains(declared, "func "+name+"(") {
				continue
			}
			c.called++
			if key := file + " calls " + name; !g.Left[key] {
				code = append(code, c.callOf(key, name))
			}
		}
		if c.called > 0 {
			break
		}
	}
	return code
}

// callOf is a function that calls a test. It recovers if the test panics because it runs twice, so
// that later tests run.
func (c *goCode) callOf(key, test string) string {
	name, s := c.function(), c.Sum()
	called := c.must(name, true, s.Result)
	called.Key, called.Calls = key, test
	recovered := "\tdefer func() {\n\t\tif err := recover(); err != nil {\n\t\t\tt.Error(err)\n\t\t}\n\t}()\n"
	return fmt.Sprintf("func %s(t *testing.T) {\n%s\t%s(t)\n\tif got := %s; got != %d {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n",
		name, recovered, test, s.Code, c.Claimed(s, true))
}
