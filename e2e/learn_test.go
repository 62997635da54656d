package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/verify"
)

// TestTheClosedLoopRunsThrough rehearses `make learn` in its smallest form. It checks that each step
// used what the step before made, never how good the student is.
func TestTheClosedLoopRunsThrough(t *testing.T) {
	t.Parallel()
	python, err := exec.Command("../scripts/python.sh", "../examples/train/requirements.txt").Output()
	noError(t, err)
	loop := filepath.Join(t.TempDir(), "loop")
	if out, err := exec.Command("go", "build", "-o", loop, "relabel/examples/train/learn/loop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := openFolder(t)
	run := func(more ...string) string {
		t.Helper()
		c := exec.Command(loop, append([]string{"--python", strings.TrimSpace(string(python)), "--relabel", relabelProgram(t), "--programs", "../examples/train/learn",
			"--out", out, "--arms", "low", "--rounds", "2", "--base-labels", "12", "--base-updates", "1", "--labels", "5", "--updates", "1", "--eval", "2"}, more...)...)
		c.Env = place{data: filepath.Join(out, "data")}.environ(t)
		said, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return string(said)
	}
	said := run()
	var record struct {
		Students map[string]struct {
			Labels   int
			Export   string
			Exports  []string
			SHA256   string
			ExportID relabel.ID `json:"export_id"`
			Epochs   map[relabel.ID]float64
			Training struct {
				Init    string `json:"init_sha256"`
				Exports []struct{ States int }
			}
		}
		Evaluated map[string]struct{ Tasks int }
	}
	text, err := os.ReadFile(filepath.Join(out, "record.json"))
	noError(t, err)
	noError(t, json.Unmarshal(text, &record))
	first, second := record.Students["0-base-1"], record.Students["0-low-2"]
	if first.Labels != 12 || second.Labels != 5 || second.Training.Init != first.SHA256 || len(second.Exports) != 2 || second.Exports[0] != first.Export {
		t.Errorf("the students are %+v\n%s", record.Students, said)
	}
	states := 96.0 // of an update
	if want := map[relabel.ID]float64{first.ExportID: states/12 + states/17, second.ExportID: states / 17}; !maps.Equal(second.Epochs, want) {
		t.Errorf("the second student was trained for %v epochs, want %v", second.Epochs, want)
	}
	if got := second.Training.Exports; len(got) != 2 || got[0].States != 12 || got[1].States != 5 {
		t.Errorf("the second student was trained on %+v", got)
	}
	if record.Evaluated["0-base-1"].Tasks != 2 || record.Evaluated["0-low-2"].Tasks != 2 {
		t.Errorf("evaluated: %+v", record.Evaluated)
	}
	for _, s := range []string{first.Export, second.Export} {
		if r, err := verify.Check(t.Context(), s, verify.Options{}); err != nil || len(r.Counts) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if again := run(); strings.Contains(again, "trained") || !strings.Contains(again, "low") {
		t.Errorf("a second run does the steps again:\n%s", again)
	}
}
