package verify

import (
	"fmt"
	"regexp"
	"slices"
)

// goTestFunction finds the test functions of a file.
var goTestFunction = regexp.MustCompile(`(?m)^func (Test\w*)\((?:\w+) \*testing\.T\)`)

// calls writes canaries that call a test of a file before they fail: code under test that
// changes what becomes of the one test that calls it changes theirs, too. The tests are those of
// FAIL_TO_PASS, or else of PASS_TO_PASS.
func (c *goCode) calls(g garden, file string, content []byte) (code []string) {
	var there []string
	for _, m := range goTestFunction.FindAllSubmatch(content, -1) {
		there = append(there, string(m[1]))
	}
	for _, ids := range [][]string{g.task.FailToPass, g.task.PassToPass} {
		declared := goFunctions(ids)
		for _, name := range there {
			if key := file + " calls " + name; c.called < maxCalled && slices.Contains(declared, "func "+name+"(") {
				c.called++
				if !g.left[key] {
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

// callOf is a function that calls a test, under a key.
func (c *goCode) callOf(key, test string) string {
	name, s := c.function(), drawSum(c.namer)
	c.must(name, true, s.result)
	c.canaries[len(c.canaries)-1].key = key
	return fmt.Sprintf("func %s(t *testing.T) {\n\t%s(t)\n\tif got := %s; got != %d {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n",
		name, test, s.code, s.result+c.between(1, 900))
}
