package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// harnessDocument is a trajectory of another harness, as it writes it.
const harnessDocument = `{
  "schema_version": "ATIF-v1.8", "session_id": "s-1",
  "agent": {"name": "other", "version": "1", "tool_definitions": [{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}}]},
  "steps": [
    {"step_id": 1, "source": "system", "message": "Be brief."},
    {"step_id": 2, "source": "user", "message": "Fix it."},
    {"step_id": 3, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "x", "function_name": "bash", "arguments": {"command": "ls"}}],
     "observation": {"results": [{"source_call_id": "x", "content": "a.py"}]}},
    {"step_id": 4, "source": "agent", "message": "Done."}
  ]
}`

// Trajectories of another harness are imported, labelled by a teacher, and exported as training data.
func TestTrajectoriesOfAnotherHarnessBecomeTrainingData(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	teacher := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		asked <- string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"big","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.",`+
			`"tool_calls":[{"id":"y","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat a.py\"}"}}]}}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`)
	}))
	t.Cleanup(teacher.Close)
	l := newLab(t)
	l.serve(t)
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "trajectory.json"), []byte(harnessDocument), 0o644))
	noError(t, os.WriteFile(filepath.Join(dir, "result.json"), []byte(`{"id": 7}`), 0o644))
	for _, name := range []string{"student", "teacher"} {
		l.must(t, "policy", "add", name, "--base-url", teacher.URL+"/v1", "--model", name)
	}
	said := l.must(t, "trajectory", "import", dir, "--name", "others", "--student", "student", "--teacher", "teacher")
	if !strings.Contains(said, "others: 1 trajectory of 1 task, 2 turns, 0 of them with a label") {
		t.Errorf("it says %s", said)
	}
	l.must(t, "run", "relabel", "others", "--teacher", "teacher")
	close(asked)
	states := ""
	for body := range asked {
		states += body
	}
	if n := strings.Count(states, `"Be brief."`); n != 2 || strings.Count(states, `"a.py"`) != 1 {
		t.Errorf("the teacher was asked %d times: %s", n, states)
	}
	if said, code := l.command(t, "run", "verify", "others"); code == 0 || !strings.Contains(said, "imported trajectories are not graded again") {
		t.Errorf("grading again: %d, %s", code, said)
	}
	said = l.must(t, "export", "start", "others", "--no-submitted", "--view", "messages")
	if !strings.Contains(said, "2 labelled states") {
		t.Errorf("the export says %s", said)
	}
}
