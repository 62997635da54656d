package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/chat"
	"relabel/policy/scripted"
)

// canary is a secret that must be found nowhere but in the requests it authorises.
const canary = "sk-canary-6f1d0e7c53b94a2e"

// foreigner speaks chat completions as another server would: its own ids, no content
// beside calls, reasoning apart, loose JSON, unknown fields, and occasional failures.
type foreigner struct {
	t     *testing.T
	lab   *lab
	inner *scripted.Server
	asked atomic.Int32
	envs  atomic.Int32 // sandboxes whose environment was looked at
}

func (f *foreigner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+canary {
		http.Error(w, "who are you", http.StatusForbidden)
		return
	}
	switch n := f.asked.Add(1); n {
	case 1:
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error": {"message": "slow down, `+canary+`"}}`, http.StatusTooManyRequests)
		return
	case 3:
		http.Error(w, "upstream broke for key "+canary, http.StatusInternalServerError)
		return
	case 5:
		f.inspect()
	}
	answer := httptest.NewRecorder()
	f.inner.ServeHTTP(answer, r)
	var a struct {
		Choices []struct {
			Message relabel.Message `json:"-"`
			Raw     json.RawMessage `json:"message"`
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &a); err != nil || len(a.Choices) != 1 {
		http.Error(w, answer.Body.String(), http.StatusBadGateway)
		return
	}
	m, err := chat.DecodeMessage(a.Choices[0].Raw)
	if err != nil {
		f.t.Error(err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=latin-1")
	_, _ = w.Write(f.dress(m))
}

// dress writes the message in the foreigner's manner.
func (f *foreigner) dress(m relabel.Message) []byte {
	var calls []string
	for k, c := range m.ToolCalls {
		arguments := " " + strings.Replace(c.Arguments, `": `, `"  :   `, 1) + "\n"
		calls = append(calls, fmt.Sprintf(`{"index":%d,"type":"function","id":"functions.%s:%d!","strange":[1],"function":{"arguments":%s,"name":%q,"parsed":null}}`,
			k, c.Name, k, chat.AppendString(nil, arguments), c.Name))
	}
	reasoning := chat.AppendString(nil, "Thinking: "+m.Content)
	return fmt.Appendf(nil, "\n{\"object\":\"other.completion\",\"warnings\":{\"a\":{}},\"choices\":[{\"stop_reason\":151645,\"finish_reason\":\"tool_calls\",\"index\":0,"+
		"\"message\":{\"annotations\":[],\"tool_calls\":[%s],\"content\":null,\"refusal\":null,\"audio\":null,\"reasoning_content\":%s,\"role\":\"assistant\"}}],\"usage\":null,\"id\":17}\n",
		strings.Join(calls, ","), reasoning)
}

// inspect looks for the secret in the sandboxes as they are.
func (f *foreigner) inspect() {
	for _, c := range f.lab.sandboxes(f.t, f.lab.instance(f.t)) {
		found, _, err := f.lab.engine.ContainerInspectWithRaw(bounded(f.t), c.ID, false)
		text, marshalErr := json.Marshal(found)
		if err != nil || marshalErr != nil || bytes.Contains(text, []byte(canary)) {
			f.t.Errorf("the container has the secret, or cannot be looked at: %v %s", err, text)
		}
		f.envs.Add(1)
	}
}

func TestAnUnusualServerTeachesAndItsSecretStaysSecret(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.env = append(l.env, "RELABEL_SECRET_CANARY="+canary)
	f := &foreigner{t: t, lab: l, inner: scripted.NewServer(scripted.Config{Book: scripted.NewBook(l.tasks)})}
	b := newBench(t, l, relabel.Policy{Name: "foreign", BaseURL: listenFor(t, f) + "/v1", Model: scripted.TeacherModel, Secret: "CANARY"})
	run := b.run(t, "foreign", map[string]any{"instances": []string{"calc__add"}})
	r := b.collect(t, run, b.policy(t, relabel.Policy{Name: "idle", BaseURL: "http://127.0.0.1:9/v1", Model: "none"}), map[string]any{"beta": 1})
	j := r.trajectories[0]
	if j.Resolved == nil || !*j.Resolved || len(r.trajectories) != 1 {
		t.Errorf("resolved %s, %d trajectories", truth(j.Resolved), len(r.trajectories))
	}
	f.understood(t, b, j)
	var e relabel.Export
	noError(t, b.api.post(t.Context(), "/v1/exports", map[string]any{"run": run.ID}, &e))
	eventually(t, "the export ends", func() bool {
		noError(t, b.api.get(t.Context(), "/v1/exports/"+e.ID.String(), &e))
		if e.State == relabel.ExportFailed {
			t.Fatalf("the export failed: %s", e.Failure)
		}
		return e.State == relabel.ExportDone
	})
	if f.envs.Load() == 0 {
		t.Error("no sandbox was looked at")
	}
	secretInAnswers(t, b, j)
	secretInDatabase(t, l)
	noError(t, filepath.WalkDir(l.data, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if bytes.Contains(content, []byte(canary)) {
			t.Errorf("the secret is in %s", name)
		}
		return err
	}))
	if strings.Contains(b.server.said.String(), canary) {
		t.Error("the secret is in the log")
	}
}

// understood compares the stored calls with the answers of the unusual server.
func (f *foreigner) understood(t *testing.T, b *bench, j rolled) {
	t.Helper()
	tries, statuses := 0, []int{}
	for _, call := range j.calls {
		tries += call.Tries
		statuses = append(statuses, call.Status)
	}
	if tries != int(f.asked.Load()) || tries != j.Turns+2 {
		t.Errorf("%d tries, statuses %v, in %d turns; the server was asked %d times", tries, statuses, j.Turns, f.asked.Load())
	}
	for _, turn := range j.turns {
		m, err := chat.DecodeMessage(turn.Action.Message)
		noError(t, err)
		if turn.Action.Parse != relabel.ParsedOK || m.Content != "" || !strings.HasPrefix(m.ReasoningContent, "Thinking: ") {
			t.Errorf("turn %d: %s %s", turn.T, turn.Action.Parse, turn.Action.Message)
		}
		for k, call := range m.ToolCalls {
			if call.ID != relabel.CallID(turn.T, k) || !strings.Contains(call.Arguments, `"  :   `) || !strings.HasSuffix(call.Arguments, "\n") {
				t.Errorf("call %d of turn %d is stored as %+v", k, turn.T, call)
			}
		}
		if !bytes.Contains(turn.Action.Raw, []byte(`"strange":[1]`)) {
			t.Errorf("turn %d is not kept as it came: %s", turn.T, turn.Action.Raw)
		}
	}
	if last := b.state(t, j.Trajectory, j.Turns); bytes.Contains(last, []byte("functions.")) {
		t.Errorf("a state holds the server's own ids: %s", last)
	}
}

// secretInAnswers looks for the secret in what REST and the pages show.
func secretInAnswers(t *testing.T, b *bench, j rolled) {
	t.Helper()
	id, run := j.ID.String(), j.RunID.String()
	for _, path := range []string{
		"/v1/policies", "/v1/policies/foreign", "/v1/runs", "/v1/runs/" + run, "/v1/runs/" + run + "/iterations", "/v1/trajectories", "/v1/trajectories/" + id,
		"/v1/trajectories/" + id + "/turns?raw=true", "/v1/trajectories/" + id + "/calls", "/v1/trajectories/" + id + "/attempts",
		"/v1/trajectories/" + id + "/states/2?raw=true", "/v1/exports", "/metrics", "/readyz", "/",
	} {
		status, answer := b.api.status(t, http.MethodGet, path, "")
		if status != http.StatusOK && path != "/metrics" {
			t.Errorf("%s answers %d", path, status)
		}
		if strings.Contains(answer, canary) {
			t.Errorf("the secret is in %s", path)
		}
	}
}

// secretInDatabase looks for the secret in every column of every table.
func secretInDatabase(t *testing.T, l *lab) {
	t.Helper()
	conn := l.connect(t)
	rows, _ := conn.Query(bounded(t), "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	noError(t, err)
	if len(tables) < 15 {
		t.Fatalf("only %v are looked at", tables)
	}
	for _, table := range tables {
		var found int
		noError(t, conn.QueryRow(bounded(t), "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+" AS r WHERE strpos(r::text, $1) > 0 OR strpos(r::text, $2) > 0",
			canary, hex.EncodeToString([]byte(canary))).Scan(&found))
		if found > 0 {
			t.Errorf("the secret is in %d rows of %s", found, table)
		}
	}
}
