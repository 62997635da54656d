package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/cli"
	"relabel/shard/shardtest"
)

// exported builds the aggregated data set of valid submissions and compares it with
// the labels that it must hold.
func (c *collected) exported(t *testing.T) {
	var e relabel.Export
	tokenizer, err := cli.UseTokenizer(t.Context(), c.api.Session, shardtest.Student(t))
	noError(t, err)
	noError(t, c.api.post(t.Context(), "/v1/exports", map[string]any{"run": c.dagger.ID, "aggregated": true, "submitted": true,
		"views": relabel.Views, "tokenizer": tokenizer}, &e))
	eventually(t, "the export ends", func() bool {
		noError(t, c.api.get(t.Context(), "/v1/exports/"+e.ID.String(), &e))
		return e.State == relabel.ExportDone || e.State == relabel.ExportFailed
	})
	if e.State != relabel.ExportDone {
		t.Fatalf("the export failed: %s", e.Failure)
	}
	want, whole := c.exportable()
	rows := e.Rows
	for _, n := range e.Excluded {
		rows += n
	}
	if e.Rows != len(want) || rows != whole || len(want) == 0 {
		t.Errorf("%d rows and %v left out; %d labels are to leave, of %d", e.Rows, e.Excluded, len(want), whole)
	}
	dir := t.TempDir()
	for _, f := range e.Files {
		c.download(t, dir, e, f)
	}
	c.must(t, "export", "verify", dir, "--tokenizer", shardtest.Student(t), "--first", "10")
	c.must(t, "export", "show", dir, "--row", "0", "--view", "tree")
	c.must(t, "export", "show", dir)
	var m relabel.Manifest
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	noError(t, err)
	noError(t, json.Unmarshal(b, &m))
	if len(m.Files) == 0 {
		t.Error("the manifest names no file")
	}
	for _, f := range m.Files {
		content, err := os.ReadFile(filepath.Join(dir, f.Path))
		noError(t, err)
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(content)) != f.Bytes {
			t.Errorf("%s is not as the manifest says", f.Path)
		}
	}
	if got := load(t, dir); len(got) != len(want) {
		t.Errorf("pyarrow loads %d rows, want %d", len(got), len(want))
	} else {
		for id, message := range want {
			if got[id] != message {
				t.Errorf("the label of %s is loaded as\n%s\nwant\n%s", id, got[id], message)
			}
		}
	}
}

// exportable returns the labels of the dagger run's valid submissions that can be
// trained on, by row id, and how many labels the run has in all.
func (c *collected) exportable() (rows map[string]string, whole int) {
	rows = map[string]string{}
	for _, r := range append(c.rounds[:len(c.rounds):len(c.rounds)], c.student) {
		for _, j := range r.trajectories {
			whole += j.Turns
			if !*j.Submitted {
				continue
			}
			for _, turn := range j.turns {
				if turn.Label.Parse == relabel.ParsedOK {
					rows[fmt.Sprintf("%s/%d", j.ID, turn.T)] = string(turn.Label.Message)
				}
			}
		}
	}
	return rows, whole
}

// download fetches a file in two ranges.
func (c *collected) download(t *testing.T, dir string, e relabel.Export, f relabel.ExportFile) {
	t.Helper()
	var content []byte
	for _, part := range []string{"bytes=0-9", "bytes=10-"} {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/v1/exports/%s/files/%s", c.api.Base, e.ID, f.Path), nil)
		noError(t, err)
		req.Header.Set("Range", part)
		res, err := http.DefaultClient.Do(req)
		noError(t, err)
		b, err := io.ReadAll(res.Body)
		noError(t, err)
		_ = res.Body.Close()
		if f.Bytes == 0 {
			break // an empty file has no ranges
		}
		if res.StatusCode != http.StatusPartialContent || part == "bytes=0-9" && len(b) != 10 {
			t.Errorf("%s of %s: %s, %d bytes", part, f.Path, res.Status, len(b))
		}
		content = append(content, b...)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
		t.Errorf("%s came with another hash", f.Path)
	}
	write(t, dir, f.Path, string(content))
}

// load reads the rows with pyarrow: label messages by row id.
func load(t *testing.T, dir string) map[string]string {
	t.Helper()
	python := os.Getenv("RELABEL_TEST_PYTHON")
	if python == "" {
		out, err := exec.CommandContext(bounded(t), "../scripts/python.sh", "../shard/testdata/requirements.txt").Output()
		if err != nil {
			t.Fatalf("no Python to load exports with: %v", err)
		}
		python = strings.TrimSpace(string(out))
	}
	cmd := exec.CommandContext(bounded(t), python, "-c", `
import json, sys, pyarrow.parquet as pq
rows = pq.read_table(sys.argv[1] + "/messages").to_pylist()
begin = lambda label: label.index('"message":') + len('"message":')
out = {}
for r in rows:
    text = r["label_json"]
    at = begin(text)
    message, end = json.JSONDecoder().raw_decode(text[at:])
    out[r["row_id"]] = text[at:at + end]
json.dump(out, sys.stdout)
`, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	noError(t, err)
	got := map[string]string{}
	noError(t, json.Unmarshal(out, &got))
	return got
}
