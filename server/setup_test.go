package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/server"
	"relabel/shard"
	"relabel/shard/tokenizers"
)

// service is the interface over real HTTP, with the store behind it.
type service struct {
	*httptest.Server
	t     *testing.T
	store *memory
	log   *logBuffer
	// exports is the folder of the exports.
	exports string
	// tokenizers is the folder below which paths are accepted.
	tokenizers string
}

// logBuffer is a log that requests write at once.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

// String is what was written so far; a request's line comes after its answer.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func start(t *testing.T, change ...func(*server.Config)) *service {
	t.Helper()
	s := &service{t: t, store: newMemory(), log: &logBuffer{}, exports: t.TempDir(), tokenizers: t.TempDir()}
	opener, err := tokenizers.NewOpener(s.store, s.tokenizers)
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config{
		Exports: shard.NewExporter(shard.Config{Tokenizers: opener, Root: s.exports, FolderID: "here"}), Tokenizers: opener,
		Store: s.store, Version: "test", Log: zerolog.New(s.log),
		DrawHeldOut: func(_ int64, ids []string, n int) []string { return ids[:n] },
		PrepareRun: func(r relabel.Run) (relabel.Run, error) {
			if r.Recipe == relabel.DAgger && r.Beta == nil {
				r.Beta = &relabel.BetaSchedule{Kind: "linear", Start: 1, Step: 0.2, Floor: 0.6}
			}
			return r, nil
		},
		ChooseScaffold: func(scaffold string, _ relabel.TaskKind) (string, relabel.Prompts, error) {
			if scaffold != "openhands" && scaffold != "" {
				return "", relabel.Prompts{}, relabel.Errorf(relabel.CodeInvalid, "no such scaffold").On("scaffold")
			}
			return "openhands", relabel.Prompts{System: "You solve <issues> & more.", First: "In {workdir}: {problem_statement}",
				Tools: []relabel.Tool{{Name: "finish", Description: "End.", Parameters: `{"type":"object","b":1,"a":2}`}}}, nil
		},
		Plan:    plan,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "relabel_build_info 1") }),
		Overview: func(context.Context) (relabel.Overview, error) {
			return relabel.Overview{Total: relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{relabel.Done: 2}}, Jobs: map[string]int{}, Runs: []relabel.RunOverview{}}, nil
		},
	}
	for _, f := range change {
		f(&config)
	}
	s.Server = httptest.NewServer(server.New(config))
	t.Cleanup(s.Close)
	return s
}

// plan draws every task that is not held out, the teacher everywhere.
func plan(run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) (relabel.PlannedIteration, error) {
	it := relabel.Iteration{ID: relabel.NewID(), RunID: run.ID, Number: number, Kind: ask.Kind, StudentID: ask.StudentID, Beta: ask.Beta, Generations: ask.Generations, State: relabel.IterationRunning}
	p := relabel.PlannedIteration{Iteration: it}
	for _, task := range tasks {
		if task.HeldOut || task.Excluded != "" {
			continue
		}
		p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), RunID: run.ID, IterationID: it.ID, TaskID: task.ID,
			InstanceID: task.InstanceID, Iteration: number, Kind: ask.Kind, State: relabel.Queued, Executors: relabel.Executors(strings.Repeat("T", run.Limits.MaxTurns))})
	}
	return p, nil
}

// answerOf is an answer, read whole.
type answerOf struct {
	*http.Response
	body []byte
}

// field returns a value of the JSON body by its path of keys and indices.
func (a answerOf) field(path ...any) any {
	var v any
	if json.Unmarshal(a.body, &v) != nil {
		return nil
	}
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[step.(string)]
		case []any:
			if i := step.(int); i < len(at) {
				v = at[i]
			} else {
				return nil
			}
		}
	}
	return v
}

func (s *service) send(method, path, body string, headers ...string) answerOf {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answerOf{res, b}
}

func (s *service) get(path string, headers ...string) answerOf {
	s.t.Helper()
	return s.send(http.MethodGet, path, "", headers...)
}

func (s *service) post(path, body string, headers ...string) answerOf {
	s.t.Helper()
	return s.send(http.MethodPost, path, body, headers...)
}

// want checks a status and returns the answer.
func (s *service) want(status int, a answerOf) answerOf {
	s.t.Helper()
	if a.StatusCode != status {
		s.t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	return a
}

// refused checks that an answer is a problem with this status, code and field.
func (s *service) refused(a answerOf, status int, code relabel.Code, field string) {
	s.t.Helper()
	s.want(status, a)
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		s.t.Errorf("content type %q", got)
	}
	if a.field("code") != string(code) || a.field("status") != float64(status) || a.field("type") != "urn:relabel:problem:"+string(code) {
		s.t.Errorf("problem %s, want code %s", a.body, code)
	}
	if got, _ := a.field("field").(string); got != field {
		s.t.Errorf("field %q, want %q: %s", got, field, a.body)
	}
}

const taskLine = `{"instance_id":%q,"image":"python:3.12","workdir":"/repo","problem_statement":"Make it <b>right</b>","patch":"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n","test_patch":"","test_cmd":"pytest -rA","log_parser":"pytest","FAIL_TO_PASS":["t::a"],"PASS_TO_PASS":[]}`

// seeded is a run with one iteration over two tasks, made through the interface.
type seeded struct {
	taskset, teacher, student, run, iteration string
}

func (s *service) seed() seeded {
	s.t.Helper()
	var file strings.Builder
	for _, id := range []string{"a__b-1", "a__b-2", "a__b-3"} {
		fmt.Fprintf(&file, taskLine+"\n", id)
	}
	var out seeded
	id := func(a answerOf) string { return s.want(http.StatusCreated, a).field("id").(string) }
	out.taskset = id(s.post("/v1/tasksets?name=real&held_out=a__b-3", file.String(), "Content-Type", "application/x-ndjson"))
	out.teacher = id(s.post("/v1/policies", `{"name":"teacher","base_url":"http://127.0.0.1:1/v1","model":"t"}`))
	out.student = id(s.post("/v1/policies", `{"name":"student","base_url":"http://127.0.0.1:1/v1","model":"s"}`))
	out.run = id(s.post("/v1/runs", fmt.Sprintf(`{"name":"r","recipe":"dagger","taskset":%q,"teacher":"teacher","seed":7}`, out.taskset)))
	out.iteration = id(s.post("/v1/runs/"+out.run+"/iterations", `{"student":"student"}`))
	return out
}

// writeFile writes a file below dir.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
