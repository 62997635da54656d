package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// used records a call of a trajectory that used tokens and money.
func used(t *testing.T, s *store.Store, trajectory, policy relabel.ID, prompt, completion int, micros int64) relabel.Call {
	t.Helper()
	c := relabel.Call{ID: relabel.NewID(), PolicyID: policy, TrajectoryID: &trajectory, Attempt: 1, T: 1, Purpose: relabel.PurposeAct,
		Usage: &relabel.Usage{PromptTokens: prompt, CompletionTokens: completion, CachedTokens: prompt / 2}, CostMicros: &micros}
	must(t, s.RecordCall(context.Background(), c))
	return c
}

func TestSpentIsWhatAllCallsUsed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 8)
	storetest.Seed(t, s, 1) // another run has its own
	var g errgroup.Group
	for _, j := range d.Trajectories {
		g.Go(func() error {
			for range 25 {
				used(t, s, j.ID, d.Teacher.ID, 100, 10, 1500)
			}
			return nil
		})
	}
	must(t, g.Wait())
	again := used(t, s, d.Trajectories[0].ID, d.Teacher.ID, 100, 10, 1500)
	must(t, s.RecordCall(ctx, again)) // an unclear commit is settled: it counts once
	must(t, s.RecordCall(ctx, relabel.Call{ID: relabel.NewID(), PolicyID: d.Teacher.ID, Purpose: relabel.PurposeProbe, Usage: &relabel.Usage{PromptTokens: 9}}))
	got, err := s.FindSpent(ctx, d.Run.ID)
	must(t, err)
	if want := (relabel.Spent{Calls: 201, Tokens: 201 * 110, PromptTokens: 20100, CachedTokens: 10050, CompletionTokens: 2010, Cost: 0.3015}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

func TestABudgetThatIsReachedPausesTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, raised relabel.Budget
		says           string
	}{
		"in tokens": {relabel.Budget{Tokens: 250}, relabel.Budget{Tokens: 1000}, "330 tokens are spent of the budget of 250"},
		"in money":  {relabel.Budget{Tokens: 9000, Cost: 0.0045}, relabel.Budget{Cost: 2}, "is spent of the budget of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			s := storetest.New(t)
			d := storetest.SeedWith(t, s, 2, func(d *storetest.Seeded) { d.Run.Budget = &c.budget })
			claim := storetest.Claim(t, s, d.Trajectories[0].ID, "worker")
			for range 2 {
				used(t, s, claim.TrajectoryID, d.Teacher.ID, 100, 10, 1500)
			}
			run, err := s.FindRun(ctx, d.Run.ID)
			must(t, err)
			if run.Paused != nil || *run.Budget != c.budget {
				t.Fatalf("paused %+v, budget %+v", run.Paused, run.Budget)
			}
			used(t, s, claim.TrajectoryID, d.Teacher.ID, 100, 10, 1500)
			run, err = s.FindRun(ctx, d.Run.ID)
			must(t, err)
			if run.Paused == nil || run.Paused.Reason != relabel.PausedByBudget || !strings.Contains(run.Paused.Text, c.says) || run.Paused.Since.IsZero() {
				t.Fatalf("paused: %+v", run.Paused)
			}
			// The turn in hand is finished; nothing more is claimed.
			label := storetest.Received(claim.Teacher.ID, "label")
			must(t, s.CommitTurn(ctx, claim.Fence, storetest.Turn(claim, 1, &label)))
			_, err = s.ClaimNext(ctx, "other", relabel.Repair, storetest.Lease)
			wantCode(t, err, relabel.CodeNotFound)
			_, err = s.ResumeRun(ctx, d.Run.ID)
			wantCode(t, err, relabel.CodeConflict)
			_, err = s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Budget: &c.raised})
			must(t, err)
			run, err = s.ResumeRun(ctx, d.Run.ID)
			must(t, err)
			if run.Paused != nil || *run.Budget != c.raised {
				t.Errorf("paused %+v, budget %+v", run.Paused, run.Budget)
			}
			_, err = s.ClaimNext(ctx, "other", relabel.Repair, storetest.Lease)
			must(t, err)
		})
	}
}

func TestBudgetAndWebhookCanBeChanged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	hook := relabel.Webhook{URL: "https://trainer.example/hook", Secret: "trainer"}
	run, err := s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Budget: &relabel.Budget{Cost: 12.5}, Webhook: &hook})
	must(t, err)
	if run.Budget == nil || *run.Budget != (relabel.Budget{Cost: 12.5}) || *run.Webhook != hook {
		t.Errorf("%+v %+v", run.Budget, run.Webhook)
	}
	priority := 3
	if run, err = s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Priority: &priority}); err != nil || run.Budget == nil || run.Webhook == nil {
		t.Errorf("what is left out changed: %+v, %v", run, err)
	}
	if run, err = s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Budget: &relabel.Budget{}, Webhook: &relabel.Webhook{}}); err != nil || run.Budget != nil || run.Webhook != nil {
		t.Errorf("not removed: %+v, %v", run, err)
	}
}

func TestPurgedCallsStayCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	old := used(t, s, d.Trajectories[0].ID, d.Teacher.ID, 100, 10, 1500)
	used(t, s, d.Trajectories[0].ID, d.Teacher.ID, 100, 10, 1500)
	if _, err := s.Pool().Exec(ctx, "UPDATE calls SET started_at = started_at - interval '2 days' WHERE id = $1", old.ID); err != nil {
		t.Fatal(err)
	}
	sums := func() (all []any) {
		spent, err := s.FindSpent(ctx, d.Run.ID)
		must(t, err)
		byIteration, err := s.ListSpending(ctx, d.Run.ID)
		must(t, err)
		byRun, _, err := s.ListPolicySpending(ctx, d.Teacher.ID, relabel.Page{})
		must(t, err)
		return []any{spent, byIteration, byRun}
	}
	before := sums()
	purged, err := s.PurgeCalls(ctx, 24*time.Hour)
	must(t, err)
	calls, err := s.ListCalls(ctx, d.Trajectories[0].ID)
	must(t, err)
	if purged != 1 || len(calls) != 1 || calls[0].ID == old.ID {
		t.Errorf("purged %d, left %d", purged, len(calls))
	}
	if after := sums(); !reflect.DeepEqual(before, after) {
		t.Errorf("spending was %+v, is %+v", before, after)
	}
}
