package labeller_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/labeller"
	"relabel/policy/scripted"
	"relabel/store"
	"relabel/store/storetest"
)

// quick bounds let nothing wait.
var quick = labeller.BatchBounds{Poll: time.Millisecond, Again: time.Millisecond}

// waiting is a store with a run of labels=batch, whose n trajectories wait for three
// labels each.
func waiting(t *testing.T, e *endpoint, n int) (*store.Store, storetest.Seeded) {
	t.Helper()
	return waitingOf(t, relabel.Repair, e, n)
}

// waitingOf is waiting with a run of the kind.
func waitingOf(t *testing.T, kind relabel.TaskKind, e *endpoint, n int) (*store.Store, storetest.Seeded) {
	t.Helper()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.SeedWith(t, s, n, func(d *storetest.Seeded) {
		d.Teacher = e.policy(t, s, "batched")
		d.Run.TaskKind, d.Run.TeacherID, d.Run.Labels = kind, d.Teacher.ID, relabel.LabelsBatch
	})
	for _, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "roller")
		for i := 1; i <= 6; i++ {
			must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, i, nil)))
		}
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff"), Submitted: true}))
		must(t, s.AwaitLabels(ctx, c.Fence))
	}
	return s, d
}

// workOff steps the batches until all are over. Whatever is due later is due now.
func workOff(t *testing.T, s *store.Store, w *labeller.Labeller) {
	t.Helper()
	for range 200 {
		err := w.Batch(t.Context())
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			tag, err := s.Pool().Exec(t.Context(), "UPDATE label_batches SET due_at = clock_timestamp() WHERE ended_at IS NULL")
			must(t, err)
			if tag.RowsAffected() == 0 {
				return
			}
			continue
		}
		must(t, err)
	}
	t.Fatal("the batches come to no end")
}

// labels are those of the students' turns, as they are.
func labels(t *testing.T, s *store.Store, d storetest.Seeded) map[string]relabel.Action {
	t.Helper()
	all := map[string]relabel.Action{}
	for i, tr := range d.Trajectories {
		turns, err := s.ListTurns(t.Context(), tr.ID, 1, 100)
		must(t, err)
		for _, turn := range turns {
			if turn.Executor == relabel.Student {
				all[fmt.Sprintf("%d/%d", i, turn.T)] = *turn.Label
			}
		}
	}
	return all
}

func count(all map[string]relabel.Action, status relabel.ActionStatus) int {
	n := 0
	for _, a := range all {
		if a.Status == status {
			n++
		}
	}
	return n
}

func TestABatchGivesTheSameLabelsAsLiveCalls(t *testing.T) {
	t.Parallel()
	for _, kind := range relabel.TaskKinds {
		t.Run(string(kind), func(t *testing.T) { t.Parallel(); compareBatch(t, kind) })
	}
}

func compareBatch(t *testing.T, kind relabel.TaskKind) {
	ctx := t.Context()
	e := newEndpoint(t, scripted.Config{})
	s, d := waitingOf(t, kind, e, 2)
	w := worker(s, s, "w", quick)
	answered, ended := map[relabel.BatchItem]relabel.BatchAnswer{}, []relabel.BatchState{}
	w.World.Answered = func(_ relabel.BatchClaim, item relabel.BatchItem, a relabel.BatchAnswer) {
		answered[relabel.BatchItem{TrajectoryID: item.TrajectoryID, T: item.T}] = a
	}
	w.World.Ended = func(_ relabel.BatchClaim, as relabel.BatchState, _ string) { ended = append(ended, as) }
	workOff(t, s, w)
	if len(answered) != 6 || !slices.Equal(ended, []relabel.BatchState{relabel.BatchDone}) {
		t.Errorf("%d answers were reported, and the ends %v", len(answered), ended)
	}
	got := labels(t, s, d)
	if count(got, relabel.Received) != 6 || e.Batches() != 1 || e.asked.Load() != 0 {
		t.Fatalf("%d labels are received, of %d batches; %d live questions", count(got, relabel.Received), e.Batches(), e.asked.Load())
	}
	for i, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "verifier")
		must(t, s.BeginVerifying(ctx, c.Fence))
		must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "tests"}))
		_, err := s.RelabelTrajectory(ctx, tr.ID, d.Teacher.ID, 0) // the same teacher, live
		must(t, err)
		must(t, w.Relabel(ctx))
		turns, err := s.ListTurns(ctx, tr.ID, 1, 100)
		must(t, err)
		for _, turn := range turns {
			if turn.Executor != relabel.Student {
				continue
			}
			batched, live := got[fmt.Sprintf("%d/%d", i, turn.T)], turn.Others[0]
			if string(batched.Raw) != string(live.Raw) || fmt.Sprint(batched.TokenIDs, batched.Logprobs, *batched.Usage, batched.Model, batched.FinishReason, batched.Parse) !=
				fmt.Sprint(live.TokenIDs, live.Logprobs, *live.Usage, live.Model, live.FinishReason, live.Parse) {
				t.Errorf("turn %d: %+v is not %+v", turn.T, batched, live)
			}
			if first := kind == relabel.Localise && turn.T == 1; first != (live.Parse == relabel.NoCall) {
				t.Errorf("turn %d: the answer is parsed as %s", turn.T, live.Parse)
			}
		}
	}
	calls, err := s.ListCalls(ctx, d.Trajectories[0].ID)
	must(t, err)
	if len(calls) != 3+6 {
		t.Errorf("%d calls are recorded", len(calls))
	}
	sizesOfBoth(t, calls)
}

// largeTurns is a store whose turns are so large that a page has one of them.
type largeTurns struct{ *store.Store }

func (l largeTurns) ListTurns(ctx context.Context, trajectory relabel.ID, from, _ int) ([]relabel.Turn, error) {
	return l.Store.ListTurns(ctx, trajectory, from, 1)
}

func TestABatchHasTheLabelsOfTrajectoriesWithManyPages(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scripted.Config{})
	s, d := waiting(t, e, 1)
	workOff(t, s, worker(largeTurns{s}, s, "w", quick))
	if got := count(labels(t, s, d), relabel.Received); got != 3 {
		t.Errorf("%d labels are received, want 3", got)
	}
}

// sizesOfBoth holds the prompt's size of each batched call against the live one of its turn,
// which is the same state.
func sizesOfBoth(t *testing.T, calls []relabel.Call) {
	t.Helper()
	live := map[int]relabel.PromptSize{}
	for _, c := range calls {
		if c.Status == http.StatusOK && c.Size != nil {
			live[c.T] = *c.Size
		}
	}
	batched := 0
	for _, c := range calls {
		if c.Status == http.StatusOK {
			continue
		}
		batched++
		if c.Size == nil || *c.Size != live[c.T] || c.Size.Tokens == 0 {
			t.Errorf("turn %d: the batched prompt has the size %+v, the live one %+v", c.T, c.Size, live[c.T])
		}
	}
	if batched != 3 || len(live) != 6 {
		t.Errorf("%d batched calls and %d live ones with a size", batched, len(live))
	}
}

func TestAnswersOfABatchCostTheBatchPriceAndCountForTheBudget(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scripted.Config{})
	s, d := waiting(t, e, 1)
	budget := relabel.Budget{Cost: 1e-6}
	_, err := s.SetScheduling(t.Context(), d.Run.ID, relabel.SchedulingChange{Budget: &budget})
	must(t, err)
	workOff(t, s, worker(s, s, "w", quick))
	var want float64
	for _, a := range labels(t, s, d) {
		want += (float64(a.Usage.PromptTokens)*4 + float64(a.Usage.CompletionTokens)*20) / 2 / 1e6
	}
	spent, err := s.FindSpent(t.Context(), d.Run.ID)
	must(t, err)
	if want == 0 || math.Abs(spent.Cost-want) > 1e-5 || spent.Calls != 3 {
		t.Errorf("%+v are spent, want %v", spent, want)
	}
	run, err := s.FindRun(t.Context(), d.Run.ID)
	must(t, err)
	if run.Paused == nil || run.Paused.Reason != relabel.PausedByBudget {
		t.Errorf("the run is paused: %+v", run.Paused)
	}
}

// A worker dies at each of its writes, before it took place or when it did: another goes
// on, no line is asked for twice and nothing is missing.
func TestABatchThatIsKilledAnywhereIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n, reached := 1, true; reached; n++ {
			e := newEndpoint(t, scripted.Config{})
			s, d := waiting(t, e, 1)
			life, die := context.WithCancel(t.Context())
			k := &killed{Store: s, left: n, after: after, die: die}
			dying := worker(k, s, "dying", quick)
			for range 20 {
				_ = dying.Batch(life) // a dead worker's error does not matter
				_, err := s.Pool().Exec(t.Context(), "UPDATE label_batches SET due_at = clock_timestamp() WHERE ended_at IS NULL")
				must(t, err)
				if life.Err() != nil {
					break
				}
			}
			die()
			_, err := s.Pool().Exec(t.Context(), "UPDATE label_batches SET lease_until = clock_timestamp() - interval '1 second' WHERE owner IS NOT NULL")
			must(t, err)
			workOff(t, s, worker(s, s, "next", quick))
			if got := labels(t, s, d); count(got, relabel.Received) != 3 {
				t.Errorf("killed at write %d, %s (after: %v): %+v", n, k.op, after, got)
			}
			if e.Batches() != 1 || e.Asked(scripted.TeacherModel) != 3 {
				t.Errorf("killed at write %d, %s (after: %v): %d batches, %d questions", n, k.op, after, e.Batches(), e.Asked(scripted.TeacherModel))
			}
			reached = k.op != ""
			if n > 30 || t.Failed() {
				t.Fatalf("%d kills", n)
			}
		}
	}
}

// killed drops its worker dead at the n-th write.
type killed struct {
	*store.Store
	mu    sync.Mutex
	left  int
	after bool
	die   context.CancelFunc
	op    string
}

func (k *killed) write(op string, do func() error) error {
	k.mu.Lock()
	if k.op != "" {
		k.mu.Unlock()
		return errDead
	}
	k.left--
	strikes := k.left == 0
	if strikes {
		k.op = op
	}
	k.mu.Unlock()
	if !strikes {
		return do()
	}
	if k.after {
		_ = do()
	}
	k.die()
	return errDead
}

func (k *killed) KeepBatchFile(ctx context.Context, f relabel.BatchFence, file string, items []relabel.BatchItem) error {
	return k.write("KeepBatchFile", func() error { return k.Store.KeepBatchFile(ctx, f, file, items) })
}

func (k *killed) SendingBatch(ctx context.Context, f relabel.BatchFence) error {
	return k.write("SendingBatch", func() error { return k.Store.SendingBatch(ctx, f) })
}

func (k *killed) SentBatch(ctx context.Context, f relabel.BatchFence, remote string) error {
	return k.write("SentBatch", func() error { return k.Store.SentBatch(ctx, f, remote) })
}

func (k *killed) PutOffBatch(ctx context.Context, f relabel.BatchFence, state, detail string, pause time.Duration) error {
	return k.write("PutOffBatch", func() error { return k.Store.PutOffBatch(ctx, f, state, detail, pause) })
}

func (k *killed) SettleBatched(ctx context.Context, f relabel.BatchFence, item relabel.BatchItem, label relabel.Action) error {
	return k.write("SettleBatched", func() error { return k.Store.SettleBatched(ctx, f, item, label) })
}

func (k *killed) EndBatch(ctx context.Context, f relabel.BatchFence, as relabel.BatchState, state, detail string, pause time.Duration) error {
	return k.write("EndBatch", func() error { return k.Store.EndBatch(ctx, f, as, state, detail, pause) })
}

// The endpoint creates the batch, but its answer is lost: its list has the batch.
func TestALostAnswerMakesNoSecondBatch(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scripted.Config{})
	e.path = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/batches" && e.Batches() == 0 {
			e.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		return false
	}
	s, d := waiting(t, e, 1)
	workOff(t, s, worker(s, s, "w", quick))
	if got := labels(t, s, d); count(got, relabel.Received) != 3 || e.Batches() != 1 {
		t.Errorf("%d batches: %+v", e.Batches(), got)
	}
}

func TestFailedLinesAreRequestedAgainAndThenMissing(t *testing.T) {
	t.Parallel()
	fails := func(id string, asked int) bool { // turn 1 always, turn 3 once
		return strings.HasSuffix(id, "/1") || strings.HasSuffix(id, "/3") && asked == 1
	}
	e := newEndpoint(t, scripted.Config{Batch: scripted.Batching{Fail: fails}})
	s, d := waiting(t, e, 1)
	workOff(t, s, worker(s, s, "w", quick))
	got := labels(t, s, d)
	if got["0/3"].Status != relabel.Received || got["0/5"].Status != relabel.Received {
		t.Errorf("%+v", got)
	}
	if l := got["0/1"]; l.Status != relabel.Missing || l.Reason != "endpoint: batched: HTTP 500: the line failed" {
		t.Errorf("turn 1: %s %q", l.Status, l.Reason)
	}
	batches, err := s.ListBatches(t.Context(), d.Iteration.ID)
	must(t, err)
	if len(batches) != 3 || batches[1].Labels != 2 || batches[2].Labels != 1 || batches[2].Missing != 1 || batches[2].Round != 3 {
		t.Errorf("%+v", batches)
	}
	tr, err := s.FindTrajectory(t.Context(), d.Trajectories[0].ID)
	must(t, err)
	if tr.State != relabel.Queued || tr.LabelsMissing != 1 {
		t.Errorf("it is %s, %d labels are missing", tr.State, tr.LabelsMissing)
	}
}

func TestABatchThatEndsEarlyGivesItsAnswersAndTheRestIsRetried(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"expired", "cancelled", "failed"} {
		e := newEndpoint(t, scripted.Config{Batch: scripted.Batching{End: func(n int) string {
			if n == 1 {
				return end
			}
			return ""
		}}})
		s, d := waiting(t, e, 1)
		workOff(t, s, worker(s, s, "w", quick))
		if got := labels(t, s, d); count(got, relabel.Received) != 3 || e.Asked(scripted.TeacherModel) != 3 {
			t.Errorf("%s: %d received after %d questions", end, count(got, relabel.Received), e.Asked(scripted.TeacherModel))
		}
		batches, err := s.ListBatches(t.Context(), d.Iteration.ID)
		must(t, err)
		partial := map[string]int{"expired": 2, "cancelled": 2, "failed": 0}[end]
		if len(batches) != 2 || batches[0].State != relabel.BatchFailed || batches[0].RemoteState != end || batches[0].Received != partial {
			t.Errorf("%s: %+v", end, batches)
		}
	}
}

func TestAnEndpointWithoutBatchesIsTheReasonOfEachLabel(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scripted.Config{})
	e.path = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/files" {
			http.NotFound(w, r)
			return true
		}
		return false
	}
	s, d := waiting(t, e, 1)
	workOff(t, s, worker(s, s, "w", quick))
	for at, l := range labels(t, s, d) {
		if l.Status != relabel.Missing || !strings.HasPrefix(l.Reason, "endpoint: batched: HTTP 404") {
			t.Errorf("%s: %s %q", at, l.Status, l.Reason)
		}
	}
}

func TestAFileHoldsNoMoreThanItsBounds(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, scripted.Config{})
	s, d := waiting(t, e, 3)
	bounds := quick
	bounds.Lines = 4
	workOff(t, s, worker(s, s, "w", bounds))
	if got := labels(t, s, d); count(got, relabel.Received) != 9 || e.Batches() != 3 || e.Asked(scripted.TeacherModel) != 9 {
		t.Errorf("%d received of %d batches and %d questions", count(got, relabel.Received), e.Batches(), e.Asked(scripted.TeacherModel))
	}
}

func TestACancelledIterationsBatchIsCancelledAtTheEndpoint(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEndpoint(t, scripted.Config{Batch: scripted.Batching{Delay: time.Hour}})
	s, d := waiting(t, e, 1)
	w := worker(s, s, "w", quick)
	must(t, w.Batch(ctx))
	_, err := s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	workOff(t, s, w)
	batches, err := s.ListBatches(ctx, d.Iteration.ID)
	must(t, err)
	if len(batches) != 1 || batches[0].State != relabel.BatchCancelled {
		t.Errorf("%+v", batches)
	}
	var listed struct {
		Data []struct {
			Status string `json:"status"`
		} `json:"data"`
	}
	get(t, e.url+"/batches", &listed)
	if len(listed.Data) != 1 || listed.Data[0].Status != "cancelled" {
		t.Errorf("at the endpoint: %+v", listed)
	}
}

func TestAnUnfinishedBatchIsCheckedLater(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := newEndpoint(t, scripted.Config{Batch: scripted.Batching{Delay: time.Hour}})
	s, d := waiting(t, e, 1)
	w := worker(s, s, "w", labeller.BatchBounds{})
	must(t, w.Batch(ctx))
	if err := w.Batch(ctx); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("at once: %v", err)
	}
	batches, err := s.ListBatches(ctx, d.Iteration.ID)
	must(t, err)
	if b := batches[0]; b.State != relabel.BatchSent || b.RemoteState != "in_progress" || b.RemoteID == "" || b.SentAt == nil {
		t.Errorf("%+v", b)
	}
}
