package relabel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGo stands for the go command. Tests of the package in FAILING fail.
const fakeGo = `#!/bin/bash
if [ "$1" = list ]; then
	printf 'relabel/e2e\nrelabel/jinja\nrelabel/shard\nrelabel/web\n'
elif [ -n "$FAILING" ] && [[ " $* " == *" $FAILING "* ]]; then
	printf -- '--- FAIL: TestPlanted (0.10s)\nFAIL\nFAIL\t%s\t0.1s\nFAIL\n' "$FAILING"
	exit 1
else
	printf 'ok  \t%s\n' "${@: -1}"
fi
`

// TestTheScriptOfTestsFailsIfAndOnlyIfATestFails runs scripts/test.sh with a fake go command.
func TestTheScriptOfTestsFailsIfAndOnlyIfATestFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fakeGo), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, failing := range []string{"", "relabel/e2e", "relabel/jinja", "relabel/shard", "relabel/web"} {
		run := exec.CommandContext(t.Context(), "scripts/test.sh", "./...")
		run.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "FAILING="+failing)
		out, err := run.CombinedOutput()
		if (err != nil) != (failing != "") {
			t.Errorf("%q fails: %v\n%s", failing, err, out)
		}
		if named := strings.Contains(string(out), "  "+failing+" TestPlanted\n"); named != (failing != "") {
			t.Errorf("%q fails and is named: %v\n%s", failing, named, out)
		}
	}
}
