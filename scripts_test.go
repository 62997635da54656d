package relabel_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeGo stands for the go command. Tests of the package in FAILING fail.
const fakeGo = `#!/bin/bash
if [ "$1" = list ]; then
	printf 'relabel/e2e\nrelabel/jinja\nrelabel/shard\nrelabel/web\n'
elif [ "$1" = build ]; then # -ldflags=… -o FOLDER PACKAGES
	echo "no program" >"$4/relabel"
elif [ -n "$FAILING" ] && [[ " $* " == *" $FAILING "* ]]; then
	printf -- '--- FAIL: TestPlanted (0.10s)\nFAIL\nFAIL\t%s\t0.1s\nFAIL\n' "$FAILING"
	exit 1
else
	printf 'ok  \t%s\n' "${@: -1}"
fi
`

// programs is where the script keeps the programs of the fake go command: a name of their content.
var programs = fmt.Sprintf("bin/test/%.8x", sha256.Sum256([]byte("no program\n")))

// withFakeGo returns a folder with a fake go command.
func withFakeGo(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fakeGo), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(programs) })
	return folder
}

// The script removes programs that were not used for a day, also while other runs use other ones.
func TestTheScriptOfTestsMarksProgramsThatItUsesAgain(t *testing.T) {
	folder := withFakeGo(t)
	old := time.Now().Add(-48 * time.Hour)
	for range 2 {
		run := exec.CommandContext(t.Context(), "scripts/test.sh", "./...")
		run.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		info, err := os.Stat(programs)
		if err != nil || info.ModTime().Before(old.Add(time.Hour)) {
			t.Errorf("the programs are as old as %v: %v", info, err)
		}
		if err := os.Chtimes(programs, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheScriptOfTestsFailsIfAndOnlyIfATestFails runs scripts/test.sh with a fake go command.
func TestTheScriptOfTestsFailsIfAndOnlyIfATestFails(t *testing.T) {
	folder := withFakeGo(t)
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
