package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"relabel"
)

// The demo does not validate again what `tasks build` has found sound; of any other file it does.
func TestTheDemoBelievesOnlyTheReportOfItsTasks(t *testing.T) {
	dir := t.TempDir()
	const tasks = "{}\n"
	d := demo{command: &DemoCommand{TaskFile: filepath.Join(dir, "tasks.jsonl")}, set: relabel.Taskset{Digest: digestOf([]byte(tasks))}}
	for report, want := range map[string]bool{
		"": false, "{": false, "{}": false,
		fmt.Sprintf(`{"tasks_sha256":%q}`, digestOf([]byte("{}"))):  false,
		fmt.Sprintf(`{"tasks_sha256":%q}`, digestOf([]byte(tasks))): true,
	} {
		name := filepath.Join(dir, "report.json")
		if err := os.WriteFile(name, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.builtSound(); got != want {
			t.Errorf("%q: %v", report, got)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if d.builtSound() {
			t.Error("tasks without a report are sound")
		}
	}
}
