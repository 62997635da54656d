package shard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/riverqueue/river"

	"relabel"
	"relabel/shard/hub/hubtest"
)

// hubStore is a store with an export of three parts to a place on a Hub.
func hubStore(name, place string) *fixedStore {
	s := bucketStore(name, place)
	s.export.FolderID = "here"
	return s
}

// hubExporter is an exporter for such a store.
func hubExporter(t testing.TB, s Store) *Exporter {
	x := newTestExporter(t, s)
	x.partBytes = 1 // a trajectory a part
	return x
}

// built does all steps of an export of three parts but the last.
func built(t *testing.T, s *fixedStore, x *Exporter) {
	t.Helper()
	if err := errors.Join(work(s, x, relabel.CutExport, 0), work(s, x, relabel.BuildPart, 0), work(s, x, relabel.BuildPart, 1), work(s, x, relabel.BuildPart, 2)); err != nil {
		t.Fatal(err)
	}
}

// scratchFree fails unless nothing of an export is left in the exports' folder.
func scratchFree(t *testing.T, x *Exporter) {
	t.Helper()
	if left := filesBelow(t, x.Root); len(left) > 0 {
		t.Errorf("%v is left in the exports' folder", slices.Sorted(maps.Keys(left)))
	}
}

func TestAnExportToTheHubEqualsOneToAFolder(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	want := inFolder(t, "")
	s := hubStore("one", "hf://acme/set")
	x := hubExporter(t, s)
	e := export(t, s, x)
	head, commits := server.Head("acme/set", "main")
	if e.Directory != "hf://acme/set@"+head || commits != 2 || e.Parts != 3 {
		t.Errorf("%d parts in %s, while main is at %s after %d commits", e.Parts, e.Directory, head, commits)
	}
	same(t, "on the Hub", server.Files("acme/set", head), want)
	same(t, "as it is read", read(t, x, e), want)
	scratchFree(t, x)
	if err := x.Remove(context.Background(), e); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "hf://acme/set@"+head) {
		t.Errorf("the removal: %v", err)
	}
	next := hubStore("two", "hf://acme/set") // the next round
	export(t, next, hubExporter(t, next))
	same(t, "the first one, after the next", read(t, x, e), want)
}

func TestAnExportToTheHubContinuesAfterADeath(t *testing.T) {
	for _, at := range []string{"/preupload/", "/objects/batch", "/objects/", "/commit/", "/tree/"} {
		server := hubtest.Start(t)
		server.Use(t)
		s := hubStore("one", "hf://acme/set@round/1")
		s.export.Destination = "hf://acme/set@round%2F1/in"
		x := hubExporter(t, s)
		ctx, die := context.WithCancel(context.Background())
		var finishing, died atomic.Bool
		server.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if finishing.Load() && strings.Contains(r.URL.Path, at) && died.CompareAndSwap(false, true) {
				die()
			}
			return false
		}
		built(t, s, x)
		finishing.Store(true)
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.FinishExport}); err == nil || !died.Load() {
			t.Errorf("%s: the worker did not die: %v", at, err)
		}
		if err := work(s, x, relabel.FinishExport, 0); err != nil {
			t.Fatal(err)
		}
		head, commits := server.Head("acme/set", "round/1")
		if s.export.Directory != "hf://acme/set@"+head+"/in" || commits != 2 {
			t.Errorf("%s: it is in %s, while the branch is at %s after %d commits", at, s.export.Directory, head, commits)
		}
		for name, text := range inFolder(t, "") {
			if got := server.Files("acme/set", head)["in/"+name]; got != text {
				t.Errorf("%s: %s is other than it should be", at, name)
			}
		}
		scratchFree(t, x)
	}
}

func TestAnExportWaitsForTheHubAndReportsIt(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	full := atomic.Bool{}
	server.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if full.Load() && strings.HasSuffix(r.URL.Path, "/objects/batch") {
			w.Header().Set("X-Error-Message", "Private repository storage limit reached")
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	s := hubStore("two", "hf://acme/set@two")
	x := hubExporter(t, s)
	built(t, s, x)
	full.Store(true)
	var snoozed *river.JobSnoozeError
	if err := work(s, x, relabel.FinishExport, 0); !errors.As(err, &snoozed) || !strings.Contains(s.export.Waiting, "hf://acme/set@two: the Hub forbids it: Private repository storage limit reached") {
		t.Errorf("%v, waits for %q", err, s.export.Waiting)
	}
	full.Store(false)
	if err := work(s, x, relabel.FinishExport, 0); err != nil || s.export.State != relabel.ExportDone {
		t.Errorf("%v, and it is %s", err, s.export.State)
	}
}

func TestAHubThatRefusesIsReportedBeforeAnythingIsBuilt(t *testing.T) {
	server := hubtest.Start(t)
	server.CreateRepo("acme/taken", false)
	server.Write("acme/taken", "main", "README.md", "somebody's")
	for _, c := range []struct{ token, place, says string }{
		{"", "hf://acme/set", "there is no token: set HF_TOKEN"},
		{hubtest.ReadToken, "hf://acme/taken@b", "HF_TOKEN must be a token with write access"},
		{hubtest.Token, "hf://others/set", "You don't have the rights"},
		{hubtest.Token, "hf://acme/taken", "README.md that is no export's"},
	} {
		server.Use(t)
		t.Setenv("HF_TOKEN", c.token)
		t.Setenv("HF_HOME", t.TempDir()) // where a developer's own token is
		s := hubStore("one", c.place)
		x := hubExporter(t, s)
		_ = work(s, x, relabel.CutExport, 0)
		if len(s.reasons) != 1 || !strings.Contains(s.reasons[0], c.says) || len(s.cut) > 0 {
			t.Errorf("%s: failed for %q, %d parts; waits for %q", c.place, s.reasons, len(s.cut), s.export.Waiting)
		}
	}
}

// TestThePushedSetLoadsWithTheLibraryDatasets loads every view of two rounds by their commits and compares
// them with the local rows.
func TestThePushedSetLoadsWithTheLibraryDatasets(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	server.PartBytes = 10_000
	program := `
import json, sys
from datasets import load_dataset
out = {}
for where in json.loads(sys.argv[1]):
    rows = load_dataset(where["path"], where["view"], split="train", **where["options"])
    out[where["name"]] = [json.dumps(row, sort_keys=True) for row in rows]
json.dump(out, sys.stdout)
`
	type place struct {
		Name    string            `json:"name"`
		Path    string            `json:"path"`
		View    string            `json:"view"`
		Options map[string]string `json:"options"`
	}
	var places []place
	for _, round := range []string{"1", "2"} {
		s := hubStore("round "+round, "hf://acme/set")
		if round == "2" {
			s.list = s.list[:2]
		}
		s.export.Form.Views = []relabel.View{relabel.ViewMessages}
		e := export(t, s, hubExporter(t, s))
		folder := t.TempDir()
		for name, text := range server.Files("acme/set", "main") {
			full := filepath.Join(folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		_, commit, _ := strings.Cut(e.Directory, "@")
		places = append(places, place{"here " + round, folder, "messages", map[string]string{}},
			place{"hub " + round, "acme/set", "messages", map[string]string{"revision": commit}})
	}
	asked, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python(t), "-c", program, string(asked))
	cmd.Env = append(os.Environ(), "HF_HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	rows := map[string][]string{}
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows["hub 1"], rows["here 1"]) || !slices.Equal(rows["hub 2"], rows["here 2"]) {
		t.Error("the rows of the Hub differ from the local ones")
	}
	if len(rows["hub 2"]) == 0 || len(rows["hub 1"]) <= len(rows["hub 2"]) {
		t.Errorf("%d rows of the first round, %d of the second", len(rows["hub 1"]), len(rows["hub 2"]))
	}
}

// TestTheHubsOwnClientAndRelabelReadWhatTheOtherPushed: huggingface_hub downloads what relabel pushed, and pushes it to a
// second data set, which relabel fetches.
func TestTheHubsOwnClientAndRelabelReadWhatTheOtherPushed(t *testing.T) {
	server := hubtest.Start(t)
	server.Use(t)
	server.PartBytes = 10_000
	s := hubStore("one", "hf://acme/ours")
	e := export(t, s, hubExporter(t, s))
	want := read(t, hubExporter(t, s), e)
	program := `
import sys
from huggingface_hub import HfApi, snapshot_download
commit, folder = sys.argv[1:]
snapshot_download("acme/ours", repo_type="dataset", revision=commit, local_dir=folder)
api = HfApi()
api.create_repo("acme/theirs", repo_type="dataset", private=True)
print(api.upload_folder(repo_id="acme/theirs", repo_type="dataset", folder_path=folder, ignore_patterns=[".cache/*", ".gitattributes"]).oid)
`
	_, commit, _ := strings.Cut(e.Directory, "@")
	folder := t.TempDir()
	cmd := exec.Command(python(t), "-c", program, commit, folder)
	cmd.Env = append(os.Environ(), "HF_HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	}
	got := filesBelow(t, folder)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, ".cache/") || name == ".gitattributes" })
	same(t, "as their client downloads it", got, want)
	fetched, at, err := Destinations{}.Fetch(context.Background(), "test", "hf://acme/theirs", t.TempDir(), nil)
	if err != nil || at != "hf://acme/theirs@"+strings.TrimSpace(string(out)) || !server.Private("acme/theirs") {
		t.Fatalf("%s, %v, after %s", at, err, out)
	}
	same(t, "as their client pushed it", filesBelow(t, fetched), want)
}
