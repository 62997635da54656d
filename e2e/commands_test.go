package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"relabel/store/storetest"
)

// passing is what differs from one time to the next: ids, times, digests, tokens, folders.
var passing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b[0-9a-f]{64}\b|relabel_[\w-]{43}|/\S*/exports`)

// terminalSession is every command of a newcomer's first hour, as a transcript.
func terminalSession(t *testing.T, p place, l *lab, endpoint string) string {
	t.Helper()
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	good, err := os.ReadFile(l.file)
	noError(t, err)
	lines := strings.SplitAfter(string(good), "\n")
	lines[1] = strings.Replace(lines[1], `"FAIL_TO_PASS":[`, `"FAIL_TO_PASS":7,"x":[`, 1)
	noError(t, os.WriteFile(bad, []byte(strings.Join(lines, "")), 0o644))
	empty := filepath.Join(filepath.Dir(bad), "empty.jsonl")
	noError(t, os.WriteFile(empty, []byte("\n"), 0o644))
	var transcript strings.Builder
	for _, args := range [][]string{
		{"tasks", "import", bad, "--name", "calc"},
		{"tasks", "import", empty},
		{"tasks", "list"},
		{"tasks", "import", l.file, "--name", "calc", "--held-out-count", "1"},
		{"tasks", "import", l.file, "--name", "calc"},
		{"tasks", "list"},
		{"tasks", "list", "calc"},
		{"policy", "add", "teacher", "--base-url", endpoint, "--model", "big", "--secret", "KEY"},
		{"policy", "add", "student", "--base-url", endpoint, "--model", "small-1"},
		{"policy", "add", "student", "--base-url", endpoint, "--model", "small-2"},
		{"policy", "add", "student", "--base-url", "nowhere", "--model", "small-3"},
		{"policy", "add", "student", "--base-url", endpoint + "/chat/completions", "--model", "small-3"},
		{"policy", "list"},
		{"run", "create", "first", "--taskset", "calc", "--teacher", "teacher", "--limits", `{"max_turns":9}`, "--beta", `{"kind":"constant","start":0.5}`},
		{"run", "create", "second", "--taskset", "calc", "--teacher", "teacher", "--beta", `{"kind":"constant","start":1.5}`},
		{"run", "create", "second", "--taskset", "nothing", "--teacher", "teacher"},
		{"run", "create", "second", "--taskset", "calc", "--teacher", "absent"},
		{"run", "create", "first", "--taskset", "calc", "--teacher", "teacher"},
		{"run", "list"},
		{"export", "start", "first"},
		{"export", "list"},
		{"run", "iterate", "first", "--student", "student@1", "--beta", "0", "--detach"},
		{"run", "iterate", "first", "--student", "nobody", "--detach"},
		{"run", "show", "first"},
		{"token", "create", "alice"},
		{"token", "list"},
		{"token", "revoke", "alice"},
		{"token", "revoke", "bob"},
		{"token", "list"},
	} {
		said, code := p.command(t, args...)
		fmt.Fprintf(&transcript, "$ relabel %s\n%s[%d]\n", strings.Join(args, " "), said, code)
	}
	return strings.NewReplacer(bad, "bad.jsonl", empty, "empty.jsonl").Replace(passing.ReplaceAllString(transcript.String(), "…"))
}

// silence is an endpoint that never answers, so that what a server begins stays if it is.
func silence(t *testing.T) string {
	t.Helper()
	return listenFor(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // unread, it would hide that the caller has gone
		<-r.Context().Done()
	})) + "/v1"
}

func TestCommandsDoTheSameWithAServerAndWithoutOne(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	endpoint := silence(t)
	var alone, beside string
	t.Run("without a server", func(t *testing.T) { alone = terminalSession(t, l.place, l, endpoint) })
	t.Run("with one", func(t *testing.T) {
		// With no disk space the server builds exports but claims no trajectory: it never learns
		// that the endpoint is silent, which a busy machine would show in the transcript.
		served := place{data: t.TempDir(), database: storetest.Migrated(t), env: []string{"RELABEL_SECRET_KEY=x", "RELABEL_MIN_FREE=1000TiB"}}
		server, _ := served.serve(t)
		beside = terminalSession(t, served, l, endpoint)
		if code := server.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
	})
	if alone != beside {
		t.Errorf("without a server:\n%s\nwith one:\n%s", alone, beside)
	}
	for _, want := range []string{
		"line 2", "FAIL_TO_PASS", "3 tasks, 1 of them held out", "student@2", "1.5", `no task set "nothing"`, `no policy "absent"; ` + "`relabel policy list`", `no policy "nobody"`,
		"relabel: empty.jsonl contains no task", "relabel: bad.jsonl: line 2: x: ", "write " + endpoint, "first  dagger  0 ", "β=0", "0 of 2",
		"calc  1         3      1",
	} {
		if !strings.Contains(alone, want) {
			t.Errorf("nowhere does it say %q:\n%s", want, alone)
		}
	}
	if strings.Contains(alone, "already closed") {
		t.Errorf("a file is closed twice:\n%s", alone)
	}
	if bad, _, _ := strings.Cut(alone, "$ relabel tasks import "+l.file); strings.Contains(bad, "calc  ") {
		t.Errorf("a file with a bad line was imported:\n%s", bad)
	}
}

func TestAServerThatOtherMachinesCanReachRequiresAToken(t *testing.T) {
	t.Parallel()
	p := place{data: t.TempDir(), database: storetest.Migrated(t)}
	server, c := p.serve(t, "--no-work", "--listen", "0.0.0.0:0")
	_, port, _ := strings.Cut(strings.TrimPrefix(c.Base, "http://"), "]:")
	c.Base = "http://127.0.0.1:" + port
	if status, answer := c.status(t, "GET", "/v1/runs", ""); status != http.StatusUnauthorized || !strings.Contains(answer, `"unauthorized"`) {
		t.Errorf("without a token: %d %s", status, answer)
	}
	if said, code := p.command(t, "run", "list"); code != 1 || !strings.Contains(said, "relabel token create") {
		t.Errorf("a command without a token ends with %d: %s", code, said)
	}
	c.Token = strings.TrimSpace(p.must(t, "token", "create", "alice"))
	if status, answer := c.status(t, "GET", "/v1/runs", ""); status != http.StatusOK {
		t.Errorf("with a token: %d %s", status, answer)
	}
	with := p
	with.env = []string{"RELABEL_TOKEN=" + c.Token}
	with.must(t, "run", "list")
	p.must(t, "token", "revoke", "alice")
	if status, _ := c.status(t, "GET", "/v1/runs", ""); status != http.StatusUnauthorized {
		t.Errorf("with a revoked token: %d", status)
	}
	if code := server.signal(syscall.SIGTERM); code != 0 || strings.Contains(server.said.String(), c.Token) {
		t.Errorf("the server ended with %d and said %s", code, server.said.String())
	}
}
