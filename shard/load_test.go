package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// prepared returns what an environment variable says, else what a script prints: the
// path of something that it makes once.
func prepared(t testing.TB, variable string, script ...string) string {
	t.Helper()
	if name := os.Getenv(variable); name != "" {
		return name
	}
	cmd := exec.Command(script[0], script[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(script, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// python returns an interpreter with what testdata/requirements.txt lists.
func python(t testing.TB) string {
	t.Helper()
	return prepared(t, "RELABEL_TEST_PYTHON", "../scripts/python.sh", "testdata/requirements.txt")
}

// runPython runs a script in dir and returns its standard output.
func runPython(t testing.TB, dir, script string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(python(t), append([]string{"-c", script}, args...)...)
	cmd.Dir = dir
	cache := t.TempDir()
	cmd.Env = append(os.Environ(), "HF_HOME="+cache, "HF_DATASETS_OFFLINE=1", "HF_HUB_OFFLINE=1", "PYTHONDONTWRITEBYTECODE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	return out
}

// wantRow is what Python must find in a row: code points of every string, so that
// nothing between here and there can hide a difference.
type wantRow struct {
	RowID string `json:"row_id"`
	Turn  int    `json:"turn"`
	// Texts are the role, content and arguments of each message of st and of ãt, as code points.
	State, Label [][]rune
}

// dumpRows prints what a wantRow says of each row of the variable rows.
const dumpRows = `
import json, sys
points = lambda s: [ord(c) for c in s]
def texts(messages):
    return [points(x) for m in messages for x in [m["role"], m["content"], *[c["function"]["arguments"] for c in m.get("tool_calls", [])],
        *[c["id"] for c in m.get("tool_calls", [])], *([m["tool_call_id"]] if "tool_call_id" in m else [])]]
out = []
for r in rows:
    label = json.loads(r["label_json"])
    assert set(r) == {"row_id", "messages_json", "tools_json", "label_json"}, list(r)
    assert set(label) == {"turn", "message", "weights"} and label["weights"] is None
    assert list(json.loads(r["tools_json"])[0]["function"]["parameters"]["properties"]) == ["z", "a"]
    out.append({"row_id": r["row_id"], "turn": label["turn"], "State": texts(json.loads(r["messages_json"])), "Label": texts([label["message"]])})
json.dump(out, sys.stdout)
`

// points returns the code points of a text, lone surrogates (WTF-8) as their own.
func points(s string) []rune {
	var out []rune
	for i := 0; i < len(s); {
		if s[i] == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 {
			out = append(out, rune(s[i]&0xF)<<12|rune(s[i+1]&0x3F)<<6|rune(s[i+2]&0x3F))
			i += 3
			continue
		}
		r := []rune(s[i:])[0]
		out = append(out, r)
		i += len(string(r))
	}
	return out
}

func messagePoints(messages ...relabel.Message) (out [][]rune) {
	for _, m := range messages {
		out = append(out, points(m.Role), points(m.Content))
		for _, c := range m.ToolCalls {
			out = append(out, points(c.Arguments))
		}
		for _, c := range m.ToolCalls {
			out = append(out, points(c.ID))
		}
		if m.ToolCallID != "" {
			out = append(out, points(m.ToolCallID))
		}
	}
	return out
}

// oddTrajectory holds text that careless code loses, in every place.
func oddTrajectory() relabel.ExportTrajectory {
	tr := someTrajectory(1, 0, 6)
	for i := range tr.Turns {
		turn := &tr.Turns[i]
		label := had(call("execute_bash", oddArguments))
		label.Message.Content = odd
		turn.Label = &label
		if turn.Executor == relabel.Teacher {
			turn.Action = label
		} else {
			turn.Action.Message.Content = odd
		}
		turn.Observations[0].Content = "\x1b[1m" + odd
	}
	return tr
}

func TestAnExportLoadsInOneLineWithEveryCodePointInPlace(t *testing.T) {
	tr := oddTrajectory()
	s := newFixedStore(tr)
	e := export(t, s, newTestExporter(t, s))
	var want []wantRow
	for i := range tr.Turns {
		want = append(want, wantRow{RowID: fmt.Sprintf("%s/%d", tr.Trajectory.ID, i+1), Turn: i + 1,
			State: messagePoints(relabel.State(s.run.Prompts.Opening(tr.Task), tr.Turns[:i])...),
			Label: messagePoints(tr.Turns[i].Label.Message.Canonical(i + 1))})
	}
	wantText, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(e.Directory, readmeName))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```python\n")
	for i, library := range []string{"pyarrow", "datasets"} {
		t.Run(library, func(t *testing.T) {
			line, _, _ := strings.Cut(blocks[i+1], "```") // what the README tells a trainer to type
			if !strings.Contains(line, library) || strings.Count(line, "\n") > 2 {
				t.Fatalf("the README says %q", line)
			}
			var got []wantRow
			if err := json.Unmarshal(runPython(t, t.TempDir(), "import sys; DIR = sys.argv[1]\n"+line+dumpRows, e.Directory), &got); err != nil {
				t.Fatal(err)
			}
			gotText, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(gotText, wantText) {
				t.Errorf("loaded\n%.2000s\nwant\n%.2000s", gotText, wantText)
			}
		})
	}
}

// The library datasets caches by path, and by the files' times if it is told to look.
func TestAnExportMadeAgainInTheSamePlaceIsReadAnew(t *testing.T) {
	var dirs []string
	for _, turns := range []int{2, 3} {
		s := newFixedStore(someTrajectory(1, 0, turns))
		dirs = append(dirs, export(t, s, newTestExporter(t, s)).Directory)
	}
	out := runPython(t, t.TempDir(), `
import os, shutil, sys
from datasets import load_dataset
for source in sys.argv[1:]:
    shutil.rmtree("export", ignore_errors=True)
    shutil.copytree(source, "export")
    for folder, _, names in os.walk("export"):
        for name in names:
            os.utime(os.path.join(folder, name), (1, 1))
    print(len(load_dataset("export", "messages", split="train")))
`, dirs...)
	if string(out) != "2\n3\n" {
		t.Errorf("the rows are %q", out)
	}
}

func TestParquetFilesHaveTheirMetadata(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 3))
	e := export(t, s, newTestExporter(t, s))
	out := runPython(t, e.Directory, `
import pyarrow.parquet as pq, hashlib, json
m = json.load(open("manifest.json"))
for f in m["files"]:
    data = open(f["path"], "rb").read()
    assert hashlib.sha256(data).hexdigest() == f["sha256"] and len(data) == f["bytes"]
    p = pq.ParquetFile(f["path"])
    assert p.metadata.num_rows == f["rows"]
    assert p.schema_arrow.names == ["row_id", "messages_json", "tools_json", "label_json"], p.schema_arrow.names
    assert all(str(t) == "string" for t in p.schema_arrow.types), p.schema_arrow
    assert p.schema_arrow.metadata[b"relabel.view"] == b"messages" and p.schema_arrow.metadata[b"relabel.loss_mask"] == b"none"
    for g in range(p.metadata.num_row_groups):
        g = p.metadata.row_group(g)
        assert all(g.column(c).compression == "ZSTD" for c in range(g.num_columns))
print("fine")
`)
	if strings.TrimSpace(string(out)) != "fine" {
		t.Errorf("got %s", out)
	}
}
