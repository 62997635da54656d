package protect

import (
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

func TestImportsAreReadFromLines(t *testing.T) {
	for _, c := range []struct {
		file, text, unit string
		want             bool
	}{
		{"tests/test_a.py", "from pkg.helpers import same", "pkg/helpers", true},
		{"tests/test_a.py", "from pkg.helpers import same", "src/pkg/helpers", true},
		{"tests/test_a.py", "from pkg import core, helpers  # both", "pkg/helpers", true},
		{"tests/test_a.py", "import pkg.helpers as h, os", "pkg/helpers", true},
		{"tests/test_a.py", "from pkg.helpers.more import x", "pkg/helpers", true},
		{"pkg/core.py", "    from . import helpers", "pkg/helpers", true},
		{"pkg/sub/core.py", "from ..helpers import same", "pkg/helpers", true},
		{"pkg/core.py", "    helpers,", "pkg/helpers", true},
		{"pkg/core.py", `x = import_module("pkg.helpers")`, "pkg/helpers", true},
		{"pkg/core.py", `autodiscover("helpers")`, "pkg/helpers", true},
		{"pkg/core.pyx", "from pkg.helpers cimport same", "pkg/helpers", true},
		{"tests/test_a.py", "from other.helpers import same", "pkg/helpers", false},
		{"tests/test_a.py", "from pkg.helpers_more import same", "pkg/helpers", false},
		{"tests/test_a.py", "# helpers are in another file", "pkg/helpers", false},
		{"tests/test_a.py", "helpers = make(1)", "pkg/helpers", false},
		{"setup.cfg", "calc = pkg.helpers:main", "pkg/helpers", true},
		{"package.json", `"./testing": "./src/helpers.js"`, "src/helpers", true},
		{"test/a.test.ts", "import { same } from '../src/helpers';", "src/helpers", true},
		{"test/a.test.ts", "import { same } from '@/helpers';", "src/helpers", true},
		{"test/a.test.js", "const { same } = require('../src/helpers/index.js');", "src/helpers", true},
		{"test/a.test.ts", "import { same } from '../lib/helpers';", "src/helpers", false},
		{"a_test.go", "\t\"example.com/calc/internal/check\"", "internal/check", true},
		{"a_test.go", "\tcheck \"example.com/calc/internal/check\"", "internal/check", true},
		{"a_test.go", "\t\"example.com/calc/internal/check/more\"", "internal/check", true},
		{"a_test.go", "\t\"example.com/calc/check\"", "internal/check", false},
	} {
		if got := (importLine{c.file, c.text}).imports(c.unit); got != c.want {
			t.Errorf("%s: %s: imports %s: %v", c.file, c.text, c.unit, got)
		}
	}
}

func TestModulesThatOnlyTestsImportAreHelpers(t *testing.T) {
	base := []string{"pkg/core.py", "pkg/helpers.py", "pkg/support/a.py", "pkg/fakes.py", "pkg/stubs.py", "pkg/samples.py", "pkg/mocks.py"}
	task := relabel.Task{TestPatch: strings.Replace(patchOf("tests/test_core.py"), "+b\n", "+from pkg.mocks import m\n", 1), Patch: patchOf("pkg/core.py", "pkg/samples.py")}
	r := edits(base, base...)
	p := protectionOf(task, r)
	units := p.sharedUnits(r.Changes)
	if got, want := strings.Join(units, " "), "pkg/fakes pkg/helpers pkg/mocks pkg/stubs pkg/support"; got != want {
		t.Fatalf("units %s, want %s", got, want)
	}
	lines := importLines("1a2b", []byte("1a2b:tests/test_a.py\x00from pkg.helpers import x\n1a2b:pkg/helpers.py\x00from pkg.helpers import y\n"+
		"1a2b:tests/test_a.py\x00from pkg.support.a import x\n1a2b:pkg/core.py\x00from pkg import support\n1a2b:pkg/core.py\x00from pkg.fakes import x\n"))
	p.testOnly = p.onlyTests(units, append(lines, patchedLines(task.TestPatch)...))
	for name, want := range map[string]bool{"pkg/helpers.py": true, "pkg/mocks.py": true, "pkg/support/a.py": false, "pkg/fakes.py": false, "pkg/stubs.py": false, "pkg/samples.py": false} {
		if got := p.reason(tree.Change{Path: name, OldMode: "100644", NewMode: "100644"}) != ""; got != want {
			t.Errorf("%s: dropped %v", name, got)
		}
	}
}
