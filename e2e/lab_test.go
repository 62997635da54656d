package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	dockerclient "github.com/docker/docker/client"
	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/api"
	"relabel/store/storetest"
)

// heldOut is the instance that is kept for evaluation.
const heldOut = "calc__shout"

// lab is what a test works with: tasks in an image, a database and a data folder.
type lab struct {
	place
	tasks  []relabel.Task
	file   string // the tasks as JSONL
	engine *dockerclient.Client
}

// newLab makes a lab with its own database in the tests' Postgres.
func newLab(t testing.TB) *lab {
	t.Helper()
	l := newLocalLab(t, t.TempDir())
	l.database = storetest.Migrated(t)
	return l
}

// newLocalLab makes a lab without a database: relabel runs its own in the data folder.
func newLocalLab(t testing.TB, data string) *lab {
	t.Helper()
	engine, err := dockerclient.NewClientWithOpts(dockerclient.FromEnv, dockerclient.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	l := &lab{place: place{data: data}, engine: engine, file: filepath.Join(t.TempDir(), "tasks.jsonl")}
	l.tasks = slices.Clone(madeTasks(t))
	l.writeTasks(t)
	return l
}

// connect opens a connection to the place's database.
func (p place) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	url := p.database
	if url == "" {
		b, err := os.ReadFile(filepath.Join(p.data, "database.url"))
		if err != nil {
			t.Fatal(err)
		}
		url = strings.TrimSpace(string(b))
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	delete(config.RuntimeParams, "pool_max_conns") // the pool's, not Postgres's
	conn, err := pgx.ConnectConfig(bounded(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(bounded(t)) })
	return conn
}

// instance is what the database labels its sandboxes with.
func (l *lab) instance(t testing.TB) string {
	t.Helper()
	var id relabel.ID
	if err := l.connect(t).QueryRow(bounded(t), "SELECT id FROM instance").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// sandboxes lists the containers of an instance.
func (l *lab) sandboxes(t testing.TB, instance string) []container.Summary {
	t.Helper()
	found, err := l.engine.ContainerList(bounded(t), container.ListOptions{All: true,
		Filters: filters.NewArgs(filters.Arg("label", "relabel.instance="+instance))})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bench is a lab with a running server, tasks imported and the scripted policies.
type bench struct {
	*lab
	server  *process
	api     *session
	set     relabel.Taskset
	teacher relabel.Policy
}

// newBench serves the lab until the test ends; then it must stop in order and leave no
// sandbox behind.
func newBench(t testing.TB, l *lab, teacher relabel.Policy) *bench {
	t.Helper()
	b := &bench{lab: l}
	b.server, b.api = l.serve(t)
	t.Cleanup(func() {
		select {
		case <-b.server.done:
			return // the test has ended it
		default:
		}
		instance := l.instance(t)
		if code := b.server.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
		if left := l.sandboxes(t, instance); len(left) > 0 {
			t.Errorf("%d sandboxes are left, as %v", len(left), left[0].Labels)
		}
	})
	b.seed(t, teacher)
	return b
}

// seed imports the tasks and registers the teacher.
func (b *bench) seed(t testing.TB, teacher relabel.Policy) {
	t.Helper()
	lines, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	imported, err := b.api.ImportTaskset(t.Context(), url.Values{"name": {"calc"}, "held_out": {heldOut}}, bytes.NewReader(lines), int64(len(lines)))
	noError(t, err)
	b.set = imported.Taskset
	b.teacher = b.policy(t, teacher)
}

// policy registers a policy, with the defaults for what it leaves open.
func (b *bench) policy(t testing.TB, p relabel.Policy) relabel.Policy {
	t.Helper()
	if p.Server == "" {
		p.Server = relabel.ServerGeneric
	}
	if p.Limits == (relabel.PolicyLimits{}) {
		p.Limits = relabel.DefaultPolicyLimits
	}
	p.Sampling = relabel.PaperSampling
	noError(t, b.api.post(t.Context(), "/v1/policies", policyBody(p), &p))
	return p
}

// run makes a run of the bench's tasks; more goes over the defaults.
func (b *bench) run(t testing.TB, name string, more map[string]any) relabel.Run {
	t.Helper()
	body := map[string]any{"name": name, "recipe": relabel.DAgger, "taskset": b.set.ID, "teacher": b.teacher.ID, "seed": 7, "limits": map[string]any{"max_turns": 16}}
	for key, value := range more {
		body[key] = value
	}
	var r relabel.Run
	noError(t, b.api.post(t.Context(), "/v1/runs", body, &r))
	return r
}

// start starts an iteration.
func (b *bench) start(t testing.TB, run relabel.Run, student relabel.Policy, more map[string]any) relabel.ID {
	t.Helper()
	body := map[string]any{"student": student.ID}
	for key, value := range more {
		body[key] = value
	}
	var it api.IterationView
	noError(t, b.api.post(t.Context(), "/v1/runs/"+run.ID.String()+"/iterations", body, &it))
	return it.ID
}

// round is an iteration at its end, with its trajectories and their turns.
type round struct {
	api.IterationView
	trajectories []rolled
}

// rolled is a trajectory with its calls.
type rolled struct {
	relabel.Trajectory
	turns []api.TurnView
	calls []relabel.Call
}

// finish waits for an iteration's end and reads it.
func (b *bench) finish(t testing.TB, id relabel.ID) round {
	t.Helper()
	var r round
	eventually(t, "the iteration ends", func() bool {
		var err error
		r.IterationView, err = b.api.Iteration(t.Context(), id)
		noError(t, err)
		return r.State != relabel.IterationRunning
	})
	all, err := b.api.Trajectories(t.Context(), url.Values{"iteration": {id.String()}})
	noError(t, err)
	for _, j := range all {
		r.trajectories = append(r.trajectories, b.read(t, j))
	}
	return r
}

// collect starts an iteration and reads it when it has ended well.
func (b *bench) collect(t testing.TB, run relabel.Run, student relabel.Policy, more map[string]any) round {
	t.Helper()
	r := b.finish(t, b.start(t, run, student, more))
	if len(r.trajectories) == 0 {
		t.Error("an iteration without trajectories")
	}
	for _, j := range r.trajectories {
		if j.State != relabel.Done || j.Turns == 0 || len(j.turns) != j.Turns {
			t.Errorf("%s is %s with %d turns, %s %s", j.InstanceID, j.State, len(j.turns), j.Failure, j.FailureDetail)
		}
	}
	return r
}

// read reads a trajectory's turns and calls.
func (b *bench) read(t testing.TB, j relabel.Trajectory) rolled {
	t.Helper()
	r := rolled{Trajectory: j}
	path := "/v1/trajectories/" + j.ID.String()
	var page struct{ Items []api.TurnView }
	noError(t, b.api.get(t.Context(), path+"/turns?limit=500&raw=true", &page))
	r.turns = page.Items
	var err error
	r.calls, err = b.api.Calls(t.Context(), j.ID)
	noError(t, err)
	return r
}

// status asks for path and returns the answer's status and body.
func (c *session) status(t testing.TB, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, c.Base+path, strings.NewReader(body))
	noError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	res, err := http.DefaultClient.Do(req)
	noError(t, err)
	defer res.Body.Close()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(res.Body)
	noError(t, err)
	return res.StatusCode, answer.String()
}

// state reads st as the server shows it.
func (b *bench) state(t testing.TB, j relabel.Trajectory, turn int) json.RawMessage {
	t.Helper()
	var s struct{ Messages json.RawMessage }
	noError(t, b.api.get(t.Context(), fmt.Sprintf("/v1/trajectories/%s/states/%d", j.ID, turn), &s))
	return s.Messages
}

// policyBody is a policy as POST /v1/policies takes it.
func policyBody(p relabel.Policy) api.NewPolicy {
	l := p.Limits
	body := api.NewPolicy{Name: p.Name, BaseURL: p.BaseURL, Replicas: p.Replicas, Model: p.Model, Server: p.Server, ToolFormat: p.ToolFormat, Secret: p.Secret,
		Sampling: &api.NewSampling{Temperature: &p.Sampling.Temperature, TopP: &p.Sampling.TopP, MaxTokens: p.Sampling.MaxTokens},
		Limits: &api.NewLimits{Concurrency: &l.Concurrency, RequestsPerMinute: &l.RequestsPerMinute, TokensPerMinute: &l.TokensPerMinute, TimeoutSeconds: &l.TimeoutSeconds,
			Retries: &l.Retries, PatienceSeconds: &l.PatienceSeconds, ContextTokens: &l.ContextTokens, HedgeAfterSeconds: &l.HedgeAfterSeconds},
		CacheMarkers: string(p.CacheMarkers), Tokenizer: p.Tokenizer, ChatTemplate: p.ChatTemplate, TemplateText: p.TemplateText}
	if p.Price != nil {
		body.Price = &api.NewPrice{Input: p.Price.Input, Cached: &p.Price.Cached, Output: p.Price.Output, Batch: p.Price.Batch, Currency: p.Price.Currency}
	}
	return body
}
