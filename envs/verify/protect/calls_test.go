package protect

import (
	"slices"
	"testing"

	"relabel"
)

func TestProgramsThatScriptsCallAreRecorded(t *testing.T) {
	base := []string{"tools/run.py", "tools/more.sh", "run.py", "src/core.py", "scripts/test.js", "bin/check", "setup.py"}
	for script, want := range map[string][]string{
		"#!/bin/sh\nset -e\npython3 -u tools/run.py --all src/core.py\n": {"tools/run.py"},
		"exec ./bin/check \"$@\"\n":                                      {"bin/check"},
		"check:\n\t@$(PYTHON) tools/run.py src\n\tblack src/core.py\n":   {"tools/run.py"},
		"check:\n\t${PYTHON} tools/run.py\n":                             {"tools/run.py"},
		"\"$(dirname \"$0\")\"/more.sh\n. \"$HERE/more.sh\"\n":           {"tools/more.sh"},
		"cd tools && A=1 python run.py\n":                                {"tools/run.py", "run.py"},
		"node scripts/test.js --env=jsdom":                               {"scripts/test.js"},
		"python -m pytest src/core.py && flake8 src/core.py":             nil,
		"python -c 'import x' setup.py":                                  nil,
		"jest src/core.py":                                               nil,
	} {
		p := protectionOf(relabel.Task{TestCmd: "true", LogParser: "pytest"}, edits(base))
		got := p.noteCalls(script, "tools")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}
