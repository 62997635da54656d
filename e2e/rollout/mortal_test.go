package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/faketest"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
	"relabel/mixer"
	"relabel/policy"
	"relabel/store"
	"relabel/store/storetest"
)

// mortal is a worker that can be killed at any of its operations, over a real database,
// real HTTP and sandboxes in folders. Its two models follow a script.
type mortal struct {
	t       *testing.T
	db      *store.Store
	through *store.Store // by which the worker has the database
	host    *faketest.Host
	script  *script
	models  string // base URL
	mu      sync.Mutex
	at      moment
	seen    map[string]int // how often which operation was begun
	dead    bool
	die     context.CancelFunc
	run     relabel.ID
	claimed relabel.ID
}

// moment is when a worker dies: before its k-th operation of a name, or when that took
// place; "" is for operations of any name. The zero moment never comes.
type moment struct {
	op    string
	k     int
	after bool
}

func (at moment) String() string {
	if at.after {
		return fmt.Sprintf("after %s %d", at.op, at.k)
	}
	return fmt.Sprintf("before %s %d", at.op, at.k)
}

func newMortal(t *testing.T) *mortal {
	t.Helper()
	return newMortalOn(t, storetest.Migrated(t))
}

// mortalExecutors act in its trajectory.
const mortalExecutors = "sTsssT"

// newMortalOn makes one on an empty database.
func newMortalOn(t *testing.T, database string) *mortal {
	t.Helper()
	db := storetest.Open(t, database)
	noError(t, db.Migrate(context.Background()))
	m := &mortal{t: t, db: db, through: db}
	repository := t.TempDir()
	write(t, repository, "value.txt", "one\n")
	write(t, repository, "check.sh", "grep -q two value.txt && echo PASSED check.sh::value || echo FAILED check.sh::value\n")
	git(t, repository, "init", "-q")
	git(t, repository, "add", "-A")
	git(t, repository, "commit", "-q", "-m", "base")
	m.host = faketest.NewHost(t.TempDir(), "relabel/test")
	m.host.Prepare = func(_, workdir string) error {
		return exec.Command("cp", "-a", repository+"/.", workdir).Run()
	}
	m.script = newScript()
	m.models = listenFor(t, m.script) + "/v1"
	return m
}

// acts are what both models do at turn k, from 0: a failing command, several calls, a
// call that cannot be understood, no call, the edit that solves the task, finish.
var acts = []string{
	`{"content":"A","tool_calls":[{"id":"x","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"echo a >> log; false\"}"}}]}`,
	`{"content":"B","tool_calls":[{"id":"x","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"cat log\"}"}},{"id":"y","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"echo b >> log; exit 3\"}"}}]}`,
	`{"content":"C","tool_calls":[{"id":"x","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": "}}]}`,
	`{"content":"D"}`,
	`{"content":"E","tool_calls":[{"id":"x","type":"function","function":{"name":"str_replace_editor","arguments":"{\"command\": \"str_replace\", \"path\": \"/testbed/value.txt\", \"old_str\": \"one\", \"new_str\": \"two\"}"}}]}`,
	`{"content":"F","tool_calls":[{"id":"x","type":"function","function":{"name":"finish","arguments":"{\"message\": \"done\"}"}}]}`,
}

// script answers a state by the number of actions in it. The teacher's label of a student's
// turn comes late in any case: when the next turn was begun.
type script struct {
	mu    sync.Mutex
	begun []chan struct{} // by turn, closed when somebody was asked for its action
}

func newScript() *script { s := &script{}; s.again(); return s }

// again is for another trajectory: none of its turns was begun.
func (s *script) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = make([]chan struct{}, len(acts)+1)
	for k := range s.begun {
		s.begun[k] = make(chan struct{})
	}
}

// begin notes that turn k, from 0, was begun, and returns what says so of the next one.
func (s *script) begin(k int, acts bool) (next <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.begun[k]:
	default:
		if acts {
			close(s.begun[k])
		}
	}
	return s.begun[k+1]
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model    string
		Messages []struct{ Role string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	k := 0
	for _, m := range q.Messages {
		if m.Role == string(relabel.RoleAssistant) {
			k++
		}
	}
	labels := q.Model == "teacher" && mortalExecutors[k] == 's'
	if next := s.begin(k, !labels); labels {
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
	message := strings.Replace(acts[k], `"content":"`, `"role":"assistant","content":"`+q.Model+" ", 1)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":%q,"choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, q.Model, message)
}

// begin counts an operation, and kills the worker if this is its moment.
func (m *mortal) begin(op string) (k, of int, err error) {
	m.mu.Lock()
	m.seen[op]++
	m.seen[""]++
	k, of = m.seen[op], m.seen[""]
	m.mu.Unlock()
	return k, of, m.strike(op, k, of, false)
}

// strike kills the worker if this is its moment.
func (m *mortal) strike(op string, k, of int, after bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return context.Canceled
	}
	if now := (moment{op, k, after}); m.at != now && m.at != (moment{"", of, after}) {
		return nil
	}
	m.dead = true
	m.die()
	return context.Canceled
}

// do does an operation of a worker that may be killed before or after it.
func (m *mortal) do(op string, operation func() error) error {
	k, of, err := m.begin(op)
	if err != nil {
		return err
	}
	if err := operation(); err != nil {
		return err
	}
	return m.strike(op, k, of, true)
}

// mortalStore is the store of a worker that may be killed.
type mortalStore struct {
	mixer.Store
	*mortal
}

func (s mortalStore) ClaimNext(ctx context.Context, owner string, kind relabel.TaskKind, lease time.Duration) (c relabel.Claim, err error) {
	err = s.do("ClaimNext", func() error { c, err = s.Store.ClaimNext(ctx, owner, kind, lease); return err })
	return c, err
}

func (s mortalStore) SetSandbox(ctx context.Context, f relabel.Fence, host, container string) error {
	return s.do("SetSandbox", func() error { return s.Store.SetSandbox(ctx, f, host, container) })
}

func (s mortalStore) AdoptTurns(ctx context.Context, f relabel.Fence, from int) error {
	return s.do("AdoptTurns", func() error { return s.Store.AdoptTurns(ctx, f, from) })
}

func (s mortalStore) Diverge(ctx context.Context, f relabel.Fence, from int, detail string) error {
	return s.do("Diverge", func() error { return s.Store.Diverge(ctx, f, from, detail) })
}

func (s mortalStore) CommitTurn(ctx context.Context, f relabel.Fence, turn relabel.Turn) error {
	return s.do("CommitTurn", func() error { return s.Store.CommitTurn(ctx, f, turn) })
}

func (s mortalStore) SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error {
	return s.do("SettleLabel", func() error { return s.Store.SettleLabel(ctx, f, t, label) })
}

func (s mortalStore) EndRollout(ctx context.Context, f relabel.Fence, end relabel.Ending) error {
	return s.do("EndRollout", func() error { return s.Store.EndRollout(ctx, f, end) })
}

func (s mortalStore) BeginVerifying(ctx context.Context, f relabel.Fence) error {
	return s.do("BeginVerifying", func() error { return s.Store.BeginVerifying(ctx, f) })
}

func (s mortalStore) Finish(ctx context.Context, f relabel.Fence, v relabel.Verdict) error {
	return s.do("Finish", func() error { return s.Store.Finish(ctx, f, v) })
}

func (s mortalStore) FinishUnverified(ctx context.Context, f relabel.Fence) error {
	return s.do("FinishUnverified", func() error { return s.Store.FinishUnverified(ctx, f) })
}

func (s mortalStore) Fail(ctx context.Context, f relabel.Fence, reason relabel.FailureReason, detail string) error {
	return s.do("Fail", func() error { return s.Store.Fail(ctx, f, reason, detail) })
}

func (s mortalStore) Release(ctx context.Context, f relabel.Fence) error {
	return s.do("Release", func() error { return s.Store.Release(ctx, f) })
}

// mortalEpisode is a sandbox of a worker that may be killed.
type mortalEpisode struct {
	mixer.Episode
	*mortal
}

func (e mortalEpisode) Execute(ctx context.Context, t int, a relabel.Message) (obs []relabel.Observation, finished bool, err error) {
	err = e.do("Execute", func() error { obs, finished, err = e.Episode.Execute(ctx, t, a); return err })
	return obs, finished, err
}

func (e mortalEpisode) Tree(ctx context.Context) (tree string, err error) {
	err = e.do("Tree", func() error { tree, err = e.Episode.Tree(ctx); return err })
	return tree, err
}

func (e mortalEpisode) Patch(ctx context.Context) (diff []byte, applies bool, err error) {
	err = e.do("Patch", func() error { diff, applies, err = e.Episode.Patch(ctx); return err })
	return diff, applies, err
}

// mortalPolicy is a policy of a worker that may be killed. It notes a label that is asked
// for though its row is had.
type mortalPolicy struct {
	mixer.Policy
	*mortal
}

func (p mortalPolicy) Complete(ctx context.Context, req relabel.ChatRequest) (c relabel.Completion, err error) {
	if req.Purpose == relabel.PurposeLabel {
		p.neverTwice(req)
	}
	err = p.do(string(req.Purpose), func() error { c, err = p.Policy.Complete(ctx, req); return err })
	return c, err
}

func (m *mortal) neverTwice(req relabel.ChatRequest) {
	var had bool
	err := m.db.Pool().QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM trajectories tr
		JOIN turns tu ON (tu.trajectory_id, tu.attempt) = (tr.id, tr.trail)
		JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		WHERE tr.id = $1 AND tu.t = $2 AND a.status = 'received')`, m.claimed, req.T).Scan(&had)
	if err != nil || had {
		m.t.Errorf("the label of turn %d is had (%v) and was asked for: %v", req.T, had, err)
	}
}

func (m *mortal) world() mixer.Environment {
	verifier := verify.New(m.host)
	return mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (e mixer.Episode, err error) {
			if _, _, err := m.begin("Start"); err != nil {
				return nil, err
			}
			if e, err = openhands.Start(ctx, m.host, c); err != nil {
				return nil, err
			}
			return mortalEpisode{e, m}, nil
		},
		Parse: func(c relabel.Claim, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(c.Run.Prompts.Tools, action)
		},
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (v relabel.Verdict, err error) {
			c.Task.TestCmd, c.Task.FailToPass = "sh check.sh", []string{"check.sh::value"}
			err = m.do("Verify", func() error {
				v, err = verifier.Verify(ctx, c.Task, c.TrajectoryID, c.Attempt, c.Run.Limits, patch)
				return err
			})
			return v, err
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) {
			p.BaseURL = m.models
			c, err := policy.Open(p, policy.Options{Record: m.through.RecordCall})
			return mortalPolicy{c, m}, err
		},
	}
}

// queue makes a trajectory, which is then the only one to be claimed.
func (m *mortal) queue() {
	if m.run != (relabel.ID{}) {
		_, err := m.db.CancelRun(context.Background(), m.run)
		noError(m.t, err)
	}
	d := storetest.SeedWith(m.t, m.db, 1, func(d *storetest.Seeded) {
		d.Run.Prompts = openhands.DefaultPrompts()
		d.Trajectories[0].Executors = mortalExecutors
		d.Run.Limits.MaxTurns = 6
	})
	m.run, m.claimed = d.Run.ID, d.Trajectories[0].ID
	m.script.again()
}

// roll rolls the trajectory out with a worker that dies at a moment, and lets its lease run
// out. It reports whether the moment came.
func (m *mortal) roll(at moment) (died bool) {
	ctx, die := context.WithCancel(context.Background())
	defer die()
	m.arm(at, die)
	if err := m.work(ctx); err != nil && !m.dead {
		m.t.Errorf("a worker that was not killed: %v", err)
	}
	m.lapse()
	return m.dead
}

// arm sets the moment at which the next worker dies.
func (m *mortal) arm(at moment, die context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.seen, m.dead, m.die = at, map[string]int{}, false, die
}

// work rolls the trajectory out.
func (m *mortal) work(ctx context.Context) error {
	worker := mixer.New(mixer.Config{Store: mortalStore{m.through, m}, Environment: m.world(), Owner: "worker", Log: zerolog.Nop()})
	return worker.Roll(ctx, func() {})
}

// lapse lets the lease of what is still held run out, and has it queued again.
func (m *mortal) lapse() {
	_, err := m.db.Pool().Exec(context.Background(), "UPDATE trajectories SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1 AND owner IS NOT NULL", m.claimed)
	noError(m.t, err)
	_, err = m.db.RecoverAbandoned(context.Background(), nil)
	noError(m.t, err)
}

// outcome is what the trajectory came to, but for ids and times.
func (m *mortal) outcome() string {
	ctx := context.Background()
	var s bytes.Buffer
	tr, err := m.db.FindTrajectory(ctx, m.claimed)
	noError(m.t, err)
	fmt.Fprintf(&s, "%s %s %s %v submitted, %d turns, %d labels missing\n", tr.State, tr.EndReason, tr.FailureDetail, tr.Submitted != nil && *tr.Submitted, tr.Turns, tr.LabelsMissing)
	turns, err := m.db.ListTurns(ctx, m.claimed, 1, 100)
	noError(m.t, err)
	for _, turn := range turns {
		fmt.Fprintf(&s, "%d %s %s %s %s\n", turn.T, turn.Executor, turn.Action.Raw, turn.Action.Parse, turn.Tree)
		for _, o := range turn.Observations {
			o.Millis = 0
			line, err := json.Marshal(o)
			noError(m.t, err)
			fmt.Fprintf(&s, "  %s\n", line)
		}
		fmt.Fprintf(&s, "  label %s %s %s %s\n", turn.Label.Status, turn.Label.Reason, turn.Label.Raw, turn.Label.Parse)
	}
	if tr.State == relabel.Done {
		patch, err := m.db.FindPatch(ctx, m.claimed)
		noError(m.t, err)
		v, err := m.db.FindVerdict(ctx, m.claimed)
		noError(m.t, err)
		fmt.Fprintf(&s, "%s\n%v %s %v", patch, v.Passed, v.Reason, v.Tests)
	}
	return s.String()
}

// diverged says of which attempts a replay came to another state.
func (m *mortal) diverged() string {
	attempts, err := m.db.ListAttempts(context.Background(), m.claimed)
	noError(m.t, err)
	for _, a := range attempts {
		if a.Outcome == "diverged" {
			return a.Reason
		}
	}
	return ""
}
