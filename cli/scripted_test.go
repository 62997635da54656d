package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

func TestScriptedModelsAreServedUntilTheCommandEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tasks.jsonl")
	line := `{"instance_id":"a__b-1","image":"i","workdir":"/testbed","problem_statement":"p","patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n","test_patch":"--- a/t\n+++ b/t\n@@ -1 +1 @@\n-a\n+b\n","test_cmd":"pytest","log_parser":"pytest","FAIL_TO_PASS":["t"],"PASS_TO_PASS":[]}`
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served, stopped := 0, false
	p := &Ports{ServeScripted: func(_ context.Context, address string, tasks []relabel.Task) (func(), error) {
		if address == "used:1" {
			return nil, errors.New("in use")
		}
		served = len(tasks)
		cancel()
		return func() { stopped = true }, nil
	}}
	if err := (&ScriptedCommand{TaskFile: file, Listen: "free:1"}).Run(ctx, p); err != nil || served != 1 || !stopped {
		t.Errorf("%v, %d tasks served, stopped %v", err, served, stopped)
	}
	if err := (&ScriptedCommand{TaskFile: file, Listen: "used:1"}).Run(ctx, p); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if text := scriptedText("http://h/v1", 3); !strings.Contains(text, "3 tasks at http://h/v1: scripted-teacher") || !strings.Contains(text, "policy add student --base-url http://h/v1 --model scripted-student-0.5") {
		t.Error(text)
	}
}

func TestEntriesAreReadWithoutCommentsAndRepetitions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.txt")
	for text, want := range map[string]string{"a__b-1 # first\n\nowner/repo\r\na__b-1\n# c\n": "a__b-1 owner/repo", "# none\n": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := readEntries(file)
		if got := strings.Join(entries, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
