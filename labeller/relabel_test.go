package labeller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
	"relabel/labeller"
	"relabel/policy"
	"relabel/policy/scripted"
	"relabel/store"
	"relabel/store/storetest"
)

// endpoint is the scripted models over HTTP. before is called with each request to the
// teacher, by its place in the order that they come (from 1).
type endpoint struct {
	*scripted.Server
	url    string
	tokens int // of its policies' context; 0: not known
	asked  atomic.Int64
	before func(n int64, w http.ResponseWriter) (done bool)
	path   func(w http.ResponseWriter, r *http.Request) (done bool) // before each request
}

func newEndpoint(t *testing.T, c scripted.Config) *endpoint {
	t.Helper()
	e := &endpoint{Server: scripted.NewServer(c)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.path != nil && e.path(w, r) {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			if n := e.asked.Add(1); e.before != nil && e.before(n, w) {
				return
			}
		}
		e.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL + "/v1"
	return e
}

// policy stores a policy at the endpoint.
func (e *endpoint) policy(t *testing.T, s *store.Store, name string) relabel.Policy {
	t.Helper()
	limits := relabel.DefaultPolicyLimits
	limits.Concurrency, limits.Retries, limits.PatienceSeconds = 4, 0, 1
	limits.ContextTokens = e.tokens
	p, err := s.CreatePolicy(context.Background(), relabel.Policy{Name: name, BaseURL: e.url, Model: scripted.TeacherModel,
		Server: relabel.ServerScripted, Sampling: relabel.PaperSampling, Limits: limits,
		Price: &relabel.Price{Input: 4, Cached: 4, Output: 20, Currency: "EUR", Batch: 0.5}})
	must(t, err)
	return p
}

// get decodes what is at an address.
func get(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer resp.Body.Close()
	must(t, json.NewDecoder(resp.Body).Decode(into))
}

// worker is a labeller over the store and the endpoints, as a process would have it.
func worker(s labeller.Store, calls *store.Store, name string, bounds labeller.BatchBounds) *labeller.Labeller {
	options := policy.Options{Record: calls.RecordCall}
	return labeller.New(labeller.Config{Store: s, Owner: name, Lease: 30 * time.Second, Bound: bounds, World: labeller.World{
		Policy:  func(p relabel.Policy) (labeller.Policy, error) { return policy.Open(p, options) },
		Batches: func(p relabel.Policy) (labeller.Batches, error) { return policy.OpenBatches(p, options) },
		Parse:   parse,
		Seed: func(_ relabel.Run, _ relabel.Trajectory, t int, _ relabel.Role) int64 {
			return int64(t) // the same state gets the same answer from all policies
		},
		Record: calls.RecordCall,
	}})
}

// parse accepts everything, but in a search only after an action.
func parse(run relabel.Run, state []relabel.Message, _ relabel.Message) relabel.ParseOutcome {
	acted := slices.ContainsFunc(state, func(m relabel.Message) bool { return m.Role == relabel.RoleAssistant })
	if run.TaskKind == relabel.Localise && !acted {
		return relabel.NoCall
	}
	return relabel.ParsedOK
}

// done is a store with one trajectory of six turns that is done.
func done(t *testing.T) (*store.Store, storetest.Seeded) {
	t.Helper()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "roller"), 6, true)
	return s, d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// others is what was answered at each state, "" if nothing was.
func others(t *testing.T, s *store.Store, trajectory relabel.ID) []string {
	t.Helper()
	turns, err := s.ListTurns(context.Background(), trajectory, 1, 100)
	must(t, err)
	var all []string
	for _, turn := range turns {
		said := ""
		for _, o := range turn.Others {
			said += fmt.Sprintf("%s %s%s", o.Status, o.Raw, o.Reason)
		}
		all = append(all, said)
	}
	return all
}

func TestEveryStoredStateIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	other := e.policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	w := worker(s, s, "w", labeller.BatchBounds{})
	must(t, w.Relabel(ctx))
	if err := w.Relabel(ctx); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("once more: %v", err)
	}
	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	if re.State != relabel.RelabelDone || re.Received != 6 || re.Compared != 6 || e.asked.Load() != 6 {
		t.Errorf("%+v after %d questions", re, e.asked.Load())
	}
	calls, err := s.ListCalls(ctx, re.TrajectoryID)
	must(t, err)
	if len(calls) != 6 || calls[0].Purpose != relabel.PurposeLabel || calls[0].PolicyID != other.ID {
		t.Errorf("%d calls are recorded", len(calls))
	}
}

// A worker dies at every question: another one continues with exactly the pending states, and the answers
// are those of an undisturbed relabeling.
func TestARelabelingThatIsKilledAnywhereIsResumed(t *testing.T) {
	t.Parallel()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	whole, killed := e.policy(t, s, "whole"), e.policy(t, s, "killed")
	id := d.Trajectories[0].ID
	_, err := s.RelabelTrajectory(t.Context(), id, whole.ID, 0)
	must(t, err)
	must(t, worker(s, s, "w", labeller.BatchBounds{}).Relabel(t.Context()))
	want := others(t, s, id)
	_, err = s.CancelRelabelings(t.Context(), d.Iteration.ID, nil)
	must(t, err)
	_, err = s.Pool().Exec(t.Context(), "DELETE FROM actions WHERE sample = 2")
	must(t, err)

	_, err = s.RelabelTrajectory(t.Context(), id, killed.ID, 0)
	must(t, err)
	for n := 1; n <= 5; n++ {
		life, die := context.WithCancel(t.Context())
		dying := &dyingStore{Store: s, left: 1, die: die}
		if err := worker(dying, s, fmt.Sprint("dead-", n), labeller.BatchBounds{}).Relabel(life); err == nil {
			t.Fatalf("worker %d lived", n)
		}
		die()
		_, err := s.Pool().Exec(t.Context(), "UPDATE relabelings SET lease_until = clock_timestamp() - interval '1 second' WHERE owner IS NOT NULL")
		must(t, err)
	}
	must(t, worker(s, s, "last", labeller.BatchBounds{}).Relabel(t.Context()))
	if got := others(t, s, id); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers\n%q\nwant\n%q", got, want)
	}
}

// dyingStore settles a number of answers, and then its worker is dead: its writes have no effect.
type dyingStore struct {
	*store.Store
	mu   sync.Mutex
	left int
	die  context.CancelFunc
}

var errDead = errors.New("dead")

func (d *dyingStore) SettleRelabel(ctx context.Context, f relabel.RelabelFence, t int, a relabel.Action) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left < 0 {
		d.die()
		return errDead
	}
	return d.Store.SettleRelabel(ctx, f, t, a)
}

func (d *dyingStore) ReleaseRelabeling(context.Context, relabel.RelabelFence) error { return errDead }

func TestRefusedLabelsAreMissingWithTheirReasonUntilRequestedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	e.before = func(n int64, w http.ResponseWriter) bool {
		if n > 2 {
			return false
		}
		http.Error(w, `{"error":{"message":"no such thing"}}`, http.StatusBadRequest)
		return true
	}
	other := e.policy(t, s, "other")
	id := d.Trajectories[0].ID
	_, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	w := worker(s, s, "w", labeller.BatchBounds{})
	must(t, w.Relabel(ctx))
	missing := 0
	for _, said := range others(t, s, id) {
		if strings.HasPrefix(said, "missing endpoint: other: HTTP 400: no such thing") {
			missing++
		}
	}
	if missing != 2 {
		t.Errorf("%d are missing: %q", missing, others(t, s, id))
	}
	re, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	must(t, w.Relabel(ctx))
	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	if re.Received != 6 || e.asked.Load() != 8 {
		t.Errorf("%+v after %d questions", re, e.asked.Load())
	}
}

func TestACancelledRelabelingEnds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	other := e.policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	e.before = func(n int64, _ http.ResponseWriter) bool {
		if n == 2 {
			if _, err := s.CancelRelabeling(ctx, re.ID); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	if err := worker(s, s, "w", labeller.BatchBounds{}).Relabel(ctx); relabel.CodeOf(err) != relabel.CodeLeaseLost {
		t.Errorf("it ended with %v", err)
	}
	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	if re.State != relabel.RelabelCancelled || re.Received > 5 {
		t.Errorf("%+v", re)
	}
}

// The endpoint answers nothing any more, and the lease is far from its end.
func TestACancelEndsTheCallsOfARelabeling(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithTimeout(t.Context(), 30*time.Second)
	defer giveUp()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	other := e.policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	var cancel sync.Once
	e.path = func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the call only after this
		cancel.Do(func() {
			if _, err := s.CancelRelabeling(ctx, re.ID); err != nil {
				t.Error(err)
			}
		})
		<-r.Context().Done()
		return true
	}
	w := worker(s, s, "w", labeller.BatchBounds{})
	w.Lease = time.Hour
	if err := w.Relabel(ctx); relabel.CodeOf(err) != relabel.CodeLeaseLost || ctx.Err() != nil {
		t.Errorf("it ended with %v, %v", err, ctx.Err())
	}
}

func TestAPolicyThatCannotBeCalledFailsTheRelabeling(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	p, err := s.CreatePolicy(ctx, relabel.Policy{Name: "secret", BaseURL: "http://127.0.0.1:9/v1", Model: "m", Server: relabel.ServerOpenAI,
		Secret: "not-there", Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
	must(t, err)
	re, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, p.ID, 0)
	must(t, err)
	must(t, worker(s, s, "w", labeller.BatchBounds{}).Relabel(ctx))
	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	if re.State != relabel.RelabelFailed || !strings.Contains(re.Failure, "not-there") || re.Pending != 6 {
		t.Errorf("%+v", re)
	}
}

func TestADrainAndAPauseReleaseTheRelabeling(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, d := done(t)
	e := newEndpoint(t, scripted.Config{})
	other := e.policy(t, s, "other")
	_, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, other.ID, 0)
	must(t, err)
	_, err = s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, "")
	must(t, err)
	w := worker(s, s, "w", labeller.BatchBounds{})
	if err := w.Relabel(ctx); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("of a paused run: %v", err)
	}
	_, err = s.ResumeRun(ctx, d.Run.ID)
	must(t, err)
	e.before = func(int64, http.ResponseWriter) bool { w.Drain(); return false }
	if err := w.Relabel(ctx); !errors.Is(err, labeller.ErrReleased) {
		t.Errorf("drained: %v", err)
	}
	before := e.asked.Load()
	must(t, worker(s, s, "next", labeller.BatchBounds{}).Relabel(ctx))
	if e.asked.Load() != 6 || before == 6 {
		t.Errorf("%d questions before the drain, %d in all", before, e.asked.Load())
	}
}
