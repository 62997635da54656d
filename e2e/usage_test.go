package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

func TestAnInvalidCommandLineExitsWithTwoAndPrintsOneLine(t *testing.T) {
	t.Parallel()
	tasks := filepath.Join(t.TempDir(), "tasks.jsonl")
	noError(t, os.WriteFile(tasks, nil, 0o644))
	p := place{data: filepath.Join(t.TempDir(), "data")}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tasks", "validate", "nowhere.jsonl"}, "nowhere.jsonl"},
		{[]string{"tasks", "validate", tasks, "--rollouts", "2"}, "--rollouts"},
		{[]string{"doctor", "--rollouts", "2"}, "--rollouts"},
		{[]string{"run", "iterate", "a"}, "`relabel run iterate --help`"},
		{[]string{"run", "create", "a", "--taskset", "t", "--teacher", "p", "--limits", "null"}, "--limits: is null"},
		{[]string{"ran"}, "ran"},
		{nil, "`relabel --help`"},
		{[]string{"demo", "--tasks", tasks, "--teacher", "http://host/v1"}, "--teacher-model: is required"},
		{[]string{"demo", "--tasks", tasks, "--student", "http://host/v1", "--student-model", "m", "--teacher-model", "m"}, "--teacher-model: needs --teacher URL"},
		{[]string{"demo", "--tasks", tasks, "--student-secret", "KEY"}, "--student-secret: needs --student URL"},
		{[]string{"demo", "--tasks", tasks, "--student", "host", "--student-model", "m"}, "--student: is not an http"},
		{[]string{"demo", "--tasks", tasks, "--rollouts", "0"}, "--rollouts: is 0"},
		{[]string{"serve", "--rollouts", "0"}, "--rollouts: is 0"},
		{[]string{"serve", "--secrets", "/nonexistent"}, "--secrets: "},
		{[]string{"serve", "--no-work", "--url", "host:80"}, "--url: "},
		{[]string{"serve", "--webhook-secret", "a"}, "--webhook-url: "},
		{[]string{"worker", "--lease", "1s"}, "--lease: is 1s"},
		{[]string{"run", "iterate", "a", "--student", "b", "--kind", "evaluate", "--count", "5"}, "--held-out: an evaluation would roll out training tasks"},
	} {
		said, code := p.command(t, c.args...)
		if code != 2 || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%v ended with %d: %s", c.args, code, said)
		}
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("something was begun in the data folder")
	}
}

func TestADemoChecksItsTasksSecretsAndModelsFirst(t *testing.T) {
	t.Parallel()
	tasks := filepath.Join(t.TempDir(), "tasks.jsonl")
	noError(t, os.WriteFile(tasks, nil, 0o644))
	p := place{data: filepath.Join(t.TempDir(), "data")}
	if said, code := p.command(t, "demo", "--tasks", tasks); code != 1 || !strings.Contains(said, "tasks.jsonl contains no task") {
		t.Errorf("it ended with %d: %s", code, said)
	}
	noError(t, os.WriteFile(tasks, []byte(`{"instance_id": "a"}`), 0o644))
	if said, code := p.command(t, "demo", "--tasks", tasks); code != 1 || !strings.Contains(said, "line 1") {
		t.Errorf("it ended with %d: %s", code, said)
	}
	line := `{"instance_id": "a", "repo": "r/r", "image": "i", "workdir": "/w", "base_commit": "` + strings.Repeat("a", 40) + `", "problem_statement": "p",
		"patch": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "test_patch": "", "test_cmd": "true", "log_parser": "pytest", "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []}`
	noError(t, os.WriteFile(tasks, []byte(strings.ReplaceAll(line, "\n", "")), 0o644))
	said, code := p.command(t, "demo", "--tasks", tasks, "--teacher", "http://127.0.0.1:9/v1", "--teacher-model", "m", "--teacher-secret", "gone")
	if code != 1 || !strings.Contains(said, "RELABEL_SECRET_GONE") {
		t.Errorf("it ended with %d: %s", code, said)
	}
	said, code = p.command(t, "demo", "--tasks", tasks, "--teacher", "http://127.0.0.1:9/v1", "--teacher-model", "m")
	if code != 1 || !strings.Contains(said, "--teacher: m at http://127.0.0.1:9/v1 does not answer") || !strings.Contains(said, "connection refused") {
		t.Errorf("it ended with %d: %s", code, said)
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("something was begun in the data folder")
	}
}

func TestAFailedExportPrintsItsCause(t *testing.T) {
	t.Parallel()
	id := relabel.NewID().String()
	export := `{"id": "` + id + `", "state": "failed", "failure": "the disk is full"}`
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/exports/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(export)) })
	api.HandleFunc("GET /v1/runs", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"items": []}`)) })
	api.HandleFunc("GET /v1/exports", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"items": [` + export + `]}`))
	})
	p := place{data: t.TempDir(), env: []string{"RELABEL_SERVER=" + listenFor(t, api)}}
	for _, args := range [][]string{{"export", "show", id}, {"export", "list"}} {
		if said := p.must(t, args...); !strings.Contains(said, "the disk is full") {
			t.Errorf("%v: %s", args, said)
		}
	}
}

func TestAWorkerReportsThatNothingServesItsFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(data, "database.url"), []byte("postgres:///relabel?host="+data+"&user=relabel\n"), 0o600)) // a server that stopped left it
	if said, code := (place{data: data}).command(t, "worker"); code != 1 || !strings.Contains(said, "`relabel serve --data "+data+"`") {
		t.Errorf("it ended with %d: %s", code, said)
	}
}

func TestAClientReportsAnUnusableServer(t *testing.T) {
	t.Parallel()
	other := listenFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	for _, c := range []struct {
		server, want string
		code         int
	}{{"127.0.0.1:7788", "--server: ", 2}, {other, "is not a relabel server", 1}} {
		if said, code := (place{data: t.TempDir()}).command(t, "run", "list", "--server", c.server); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s ended with %d: %s", c.server, code, said)
		}
	}
}

func TestDoctorNamesAMissingSecret(t *testing.T) {
	t.Parallel()
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/policies/{policy}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"name": "big", "base_url": "http://127.0.0.1:9/v1", "model": "m", "secret": "big-key", "limits": {"concurrency": 1, "timeout_seconds": 1}}`))
	})
	p := place{data: t.TempDir(), env: []string{"RELABEL_SERVER=" + listenFor(t, api)}}
	said, code := p.command(t, "doctor", "--policy", "big@1")
	if code != 1 || !strings.Contains(said, `"big-key" is missing`) || !strings.Contains(said, "RELABEL_SECRET_BIG_KEY") || strings.Contains(said, "reachable") {
		t.Errorf("it ended with %d: %s", code, said)
	}
}

func TestAWaitingExportWarnsThatNoWorkerRuns(t *testing.T) {
	t.Parallel()
	id := relabel.NewID().String()
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /v1/runs/{run}", answer(`{"id": "`+id+`", "name": "r"}`))
	api.HandleFunc("GET /v1/workers", answer(`{"items": [{"name": "a", "state": "silent"}]}`))
	api.HandleFunc("POST /v1/exports", answer(`{"id": "`+id+`", "state": "queued"}`))
	api.HandleFunc("GET /v1/exports/{id}", answer(`{"id": "`+id+`", "state": "done"}`))
	p := place{data: t.TempDir(), env: []string{"RELABEL_SERVER=" + listenFor(t, api)}}
	if said := p.must(t, "export", "start", "r"); !strings.Contains(said, "No process works at present") {
		t.Errorf("it says %s", said)
	}
}
