package verify

import (
	"strings"
	"testing"

	"relabel"
)

func TestSettingsThatTheGoldPatchChangesSteerTheRunnerAsItDoes(t *testing.T) {
	b := newBench(t, file("pyproject.toml", "[project]\nname = \"calc\"\nversion = \"1\"\n"), func(b *bench) {
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "settings")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
	})
	both := func(b *bench) { gold(b); file("pyproject.toml", "[project]\nname = \"calc\"\nversion = \"2\"\n")(b) }
	b.task.Patch = string(b.patch(both))
	for name, c := range map[string]struct {
		settings string
		dropped  int
	}{
		"another version": {"[project]\nname = \"calc\"\nversion = \"3\"\n", 0},
		"a plugin":        {"[project]\nname = \"calc\"\nversion = \"3\"\n[tool.pytest.ini_options]\naddopts = \"-p cheat\"\n", 1},
	} {
		v := b.verify(b.patch(gold, file("pyproject.toml", c.settings), file("cheat.py", takeover)))
		if !v.Passed || v.DroppedCount != c.dropped {
			t.Errorf("%s: reason %q, infra %q, dropped %v", name, v.Reason, v.Infra, v.Dropped)
		}
	}
	v := b.verify(b.patch(file("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-p cheat\"\n"), file("cheat.py", takeover)))
	if v.Passed || v.Reason != relabel.VerdictTests || v.DroppedCount != 1 {
		t.Errorf("a plugin alone: reason %q, infra %q, dropped %v", v.Reason, v.Infra, v.Dropped)
	}
}

func TestSuccessThatRestsOnSkippedTestsIsHeldAgainstTheGoldPatch(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "python3 -m pytest -v -rA -p no:cacheprovider tests"
	b.task.LogParser = "pytest_v2"
	for name, code := range map[string]string{
		"expects its failure": "import pytest\ndef add(a, b):\n    if b:\n        pytest.xfail('not today')\n    return a - b\ndef sub(a, b):\n    return a - b\n",
		"skips what passed":   "import pytest\ndef add(a, b):\n    return a + b\ndef sub(a, b):\n    pytest.skip('not today')\n",
	} {
		if v := b.verify(b.patch(file("calc.py", code))); v.Passed || (v.Reason != relabel.VerdictTests && v.Reason != relabel.VerdictTampered) || v.Infra != "" {
			t.Errorf("%s: reason %q, infra %q, %v\n%s", name, v.Reason, v.Infra, v.Tests, v.Output)
		}
	}
}
