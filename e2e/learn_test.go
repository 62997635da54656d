package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/e2e/e2etest"
	"relabel/shard/verify"
)

// learned is the part of the record of `make learn` that is checked.
type learned struct {
	Students  map[string]learnedStudent
	Evaluated map[string]struct{ Tasks int }
}

// learnedStudent is one student of it.
type learnedStudent struct {
	Labels   int
	Export   string
	Exports  []string
	SHA256   string
	Policy   string
	From     string     `json:"trained_from"`
	ExportID relabel.ID `json:"export_id"`
	Epochs   map[relabel.ID]float64
	Training struct {
		Init    string `json:"init_sha256"`
		Exports []struct{ States, Drawn int }
	}
}

// TestTheClosedLoopRunsThrough rehearses `make learn` in its smallest form. It checks that each step
// used what the step before made, never how good the student is.
func TestTheClosedLoopRunsThrough(t *testing.T) {
	e2etest.Long(t)
	t.Parallel()
	python, err := exec.Command("../scripts/python.sh", "../examples/train/requirements.txt").Output()
	noError(t, err)
	loop := filepath.Join(t.TempDir(), "loop")
	if out, err := exec.Command("go", "build", "-o", loop, "relabel/examples/train/learn/loop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := openFolder(t)
	at := place{data: filepath.Join(out, "data")}
	run := func(rounds string) (string, error) {
		t.Helper()
		c := exec.Command(loop, "--python", strings.TrimSpace(string(python)), "--relabel", relabelProgram(t), "--programs", "../examples/train/learn",
			"--out", out, "--arms", "sft,low", "--rounds", rounds, "--base-labels", "12", "--base-updates", "1", "--labels", "5", "--updates", "1", "--eval", "2")
		c.Env = at.environ(t)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	said, err := run("2")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var record learned
	text, err := os.ReadFile(filepath.Join(out, "record.json"))
	noError(t, err)
	noError(t, json.Unmarshal(text, &record))
	first := record.Students["0-base-1"]
	if first.Labels != 12 || first.From != "" {
		t.Errorf("the first student is %+v\n%s", first, said)
	}
	exports := []string{first.Export}
	for _, name := range []string{"0-sft-2", "0-low-2"} {
		s := record.Students[name]
		exports = append(exports, s.Export)
		checkLearned(t, name, first, s)
		if record.Evaluated[name].Tasks != 2 {
			t.Errorf("evaluated: %+v", record.Evaluated)
		}
	}
	for _, export := range exports {
		if r, err := verify.Check(t.Context(), export, verify.Options{}); err != nil || len(r.Counts) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if again, err := run("2"); err != nil || strings.Contains(again, "trained to") || !comparesWithSFT(again) {
		t.Errorf("a second run, %v:\n%s", err, again)
	}
	if refused, err := run("3"); err == nil || !strings.Contains(refused, "was made with other settings") {
		t.Errorf("a run with more rounds, %v:\n%s", err, refused)
	}
	checkLearnedCurves(t, at, record)
}

// checkLearned checks a student of round 2.
func checkLearned(t *testing.T, name string, first, s learnedStudent) {
	t.Helper()
	if s.Labels != 5 || s.Training.Init != first.SHA256 || s.From != first.Policy || len(s.Exports) != 2 || s.Exports[0] != first.Export {
		t.Errorf("the student %s is %+v", name, s)
	}
	of := s.Training.Exports
	if len(of) != 2 || of[0].States != 12 || of[1].States != 5 || of[0].Drawn < 1 || of[0].Drawn+of[1].Drawn < 96 {
		t.Fatalf("the student %s was trained on %+v", name, of)
	}
	if s.Epochs[first.ExportID] != float64(of[0].Drawn)/12 || s.Epochs[s.ExportID] != float64(of[1].Drawn)/5 {
		t.Errorf("the student %s was trained for %v epochs on %+v", name, s.Epochs, of)
	}
}

// comparesWithSFT tells whether a table of results has a row of the arm low with its difference.
func comparesWithSFT(said string) bool {
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) > 6 && f[0] == "low" && strings.ContainsAny(f[6], "+-") {
			return true
		}
	}
	return false
}

// checkLearnedCurves checks that the lines of both arms begin with the student that they share.
func checkLearnedCurves(t *testing.T, at place, record learned) {
	t.Helper()
	server, c := at.serve(t)
	report, err := c.Scaling(t.Context(), api.ScalingQuery{Runs: []string{"0-sft-2", "0-low-2"}})
	noError(t, err)
	for _, series := range report.Runs {
		if len(series.Points) != 2 {
			t.Errorf("%s has the points %+v; excluded are %+v", series.Run, series.Points, report.Excluded)
			continue
		}
		a, b := series.Points[0], series.Points[1]
		if a.Evaluation.Student != "student-0-base-1@1" || b.Evaluation.Student != "student-"+series.Run+"@1" || a.Effective.States >= b.Effective.States {
			t.Errorf("%s has the points %+v", series.Run, series.Points)
		}
		if id := b.Evaluation.StudentID.String(); id != record.Students[series.Run].Policy {
			t.Errorf("%s was evaluated with %s, its record has %s", series.Run, id, record.Students[series.Run].Policy)
		}
	}
	server.signal(syscall.SIGTERM)
}
