package golang

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
)

func TestACanaryCallsATestOfGo(t *testing.T) {
	const content = "package calc\n\nfunc TestAdd(t *testing.T) {\n}\n\nfunc TestZero(tt *testing.T) {\n\ttt.Run(\"a\", func(t *testing.T) {\n\t\tt.Parallel()\n\t})\n}\n\nfunc TestBeside(t *testing.T) {\n\tt.Parallel()\n}\n\nfunc TestMain(m *testing.M) {\n}\n\nfunc BenchmarkAdd(b *testing.B) {\n}\n"
	for _, of := range []struct {
		failing []string
		left    map[string]bool
		calls   []string
	}{
		{[]string{"TestAdd", "TestMain", "TestBeside"}, nil, []string{"TestAdd"}},
		{[]string{"TestOther"}, nil, []string{"TestZero"}},
		{[]string{"example.com/calc:TestAdd/sub"}, map[string]bool{"calc_test.go calls TestAdd": true}, nil},
	} {
		g := canary.Garden{Task: relabel.Task{FailToPass: of.failing, PassToPass: []string{"TestZero"}}, Left: of.left}
		c := goCode{Namer: canary.NewNamer(canary.Random())}
		code := strings.Join(c.calls(g, "calc_test.go", []byte(content)), "\n")
		if len(c.canaries) != len(of.calls) || strings.Count(code, "(t)\n") != len(of.calls) {
			t.Errorf("%v: %v\n%s", of.failing, c.canaries, code)
		}
		if slices.ContainsFunc(of.calls, func(test string) bool { return !strings.Contains(code, "()\n\t"+test+"(t)\n\tif got := ") }) {
			t.Errorf("%v: %s", of.failing, code)
		}
	}
}
