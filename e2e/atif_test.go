package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel/atif"
	"relabel/store/storetest"
)

// `trajectory export` writes documents that are read back, as one file or as the folder of a viewer.
func TestTrajectoriesAreExportedAsATIF(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	db := storetest.Open(t, p.database)
	noError(t, db.Migrate(t.Context()))
	d := storetest.Seed(t, db, 3)
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "w"), 3, true)
	dir := t.TempDir()

	file := filepath.Join(dir, "all.jsonl")
	said := p.must(t, "trajectory", "export", "--run", d.Run.Name, "--out", file)
	if !strings.Contains(said, "3 trajectories in "+file) || !strings.Contains(said, "2 of them have not ended") {
		t.Errorf("it says %s", said)
	}
	content, err := os.ReadFile(file)
	noError(t, err)
	if n := bytes.Count(content, []byte("\n")); n != 3 {
		t.Errorf("%d lines", n)
	}

	folder := filepath.Join(dir, "jobs")
	p.must(t, "trajectory", "export", "--state", "done", "--out", folder)
	trial := filepath.Join(folder, fileNameOf(d.Run.Name), "owner__repo-0000__"+d.Trajectories[0].ID.String())
	doc, err := os.ReadFile(filepath.Join(trial, "agent", "trajectory.json"))
	noError(t, err)
	r, err := atif.Read(bytes.TrimSuffix(doc, []byte("\n")))
	noError(t, err)
	if len(r.Turns) != 3 || r.Turns[2].Label == nil || !bytes.Contains(content, doc) {
		t.Errorf("%d turns in %s", len(r.Turns), doc)
	}
	var again bytes.Buffer
	noError(t, atif.Write(&again, r))
	if again.String()+"\n" != string(doc) {
		t.Errorf("written again it is\n%s, not\n%s", again.String(), doc)
	}
	var result struct {
		TaskName       string `json:"task_name"`
		VerifierResult struct {
			Rewards map[string]float64 `json:"rewards"`
		} `json:"verifier_result"`
	}
	for _, needed := range []string{"config.json", "../config.json", "verifier"} { // by which viewers know a trial and a job
		if _, err := os.Stat(filepath.Join(trial, needed)); err != nil {
			t.Error(err)
		}
	}
	content, err = os.ReadFile(filepath.Join(trial, "result.json"))
	noError(t, err)
	noError(t, json.Unmarshal(content, &result))
	if result.TaskName != "owner__repo-0000" || result.VerifierResult.Rewards["reward"] != 1 {
		t.Errorf("the result is %s", content)
	}
	if said, code := p.command(t, "trajectory", "export", "--out", folder); code != 2 || !strings.Contains(said, "exists: give a new path") {
		t.Errorf("an existing folder ends with %d: %s", code, said)
	}
	if said, code := p.command(t, "trajectory", "export", "--state", "failed", "--out", filepath.Join(dir, "none")); code == 0 || !strings.Contains(said, "no trajectory matches") {
		t.Errorf("no trajectory ends with %d: %s", code, said)
	}
}

// fileNameOf is the folder of a run without unusual characters.
func fileNameOf(run string) string { return strings.ReplaceAll(run, " ", "-") }
