package store_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// writes are all the methods that take a fence.
func writes(s *store.Store, c relabel.Claim) map[string]func(context.Context, relabel.Fence) error {
	label := storetest.Received(c.Teacher.ID, "late")
	return map[string]func(context.Context, relabel.Fence) error{
		"Renew":      func(_ context.Context, f relabel.Fence) error { return renew(s, f) },
		"SetSandbox": func(ctx context.Context, f relabel.Fence) error { return s.SetSandbox(ctx, f, "host", "container") },
		"CommitTurn": func(ctx context.Context, f relabel.Fence) error {
			return s.CommitTurn(ctx, f, storetest.Turn(c, 2, nil))
		},
		"SettleLabel": func(ctx context.Context, f relabel.Fence) error { return s.SettleLabel(ctx, f, 1, label) },
		"EndRollout": func(ctx context.Context, f relabel.Fence) error {
			return s.EndRollout(ctx, f, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("p"), Submitted: true})
		},
		"AwaitLabels":    s.AwaitLabels,
		"BeginVerifying": s.BeginVerifying,
		"Finish": func(ctx context.Context, f relabel.Fence) error {
			return s.Finish(ctx, f, relabel.Verdict{Reason: "tests"})
		},
		"FinishUnverified": s.FinishUnverified,
		"Fail":             func(ctx context.Context, f relabel.Fence) error { return s.Fail(ctx, f, relabel.FailInternal, "a bug") },
		"Release":          s.Release,
		"ReleaseBroken": func(ctx context.Context, f relabel.Fence) error {
			return s.ReleaseBroken(ctx, f, "the engine is gone", time.Second, nil)
		},
		"ReleaseWaiting": func(ctx context.Context, f relabel.Fence) error {
			return s.ReleaseWaiting(ctx, f, relabel.Wait{}, "no answer")
		},
		"ReleaseFault": func(ctx context.Context, f relabel.Fence) error {
			_, err := s.ReleaseFault(ctx, f, "turn 1", errors.New("a fault"))
			return err
		},
		"AdoptTurns": func(ctx context.Context, f relabel.Fence) error { return s.AdoptTurns(ctx, f, 1) },
		"Diverge":    func(ctx context.Context, f relabel.Fence) error { return s.Diverge(ctx, f, 1, "turn 1: another tree") },
	}
}

func TestAStaleWorkerWritesZeroRows(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, s *store.Store, c *relabel.Claim){
		"another owner":     func(_ *testing.T, _ *store.Store, c *relabel.Claim) { c.Owner = "somebody" },
		"another attempt":   func(_ *testing.T, _ *store.Store, c *relabel.Claim) { c.Attempt++ },
		"the lease is over": func(t *testing.T, s *store.Store, c *relabel.Claim) { expire(t, s, c.TrajectoryID) },
		"taken over": func(t *testing.T, s *store.Store, c *relabel.Claim) {
			expire(t, s, c.TrajectoryID)
			storetest.Claim(t, s, c.TrajectoryID, "w") // by a worker of the same name, even
		},
		"cancelled": func(t *testing.T, s *store.Store, c *relabel.Claim) {
			_, err := s.CancelIteration(context.Background(), c.Iteration.ID)
			must(t, err)
		},
		"released": func(t *testing.T, s *store.Store, c *relabel.Claim) {
			must(t, s.Release(context.Background(), c.Fence))
		},
		"deleted": func(t *testing.T, s *store.Store, c *relabel.Claim) {
			removeRun(t, s, c.Run.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			c := storetest.Claim(t, s, storetest.Seed(t, s, 2).Trajectories[0].ID, "w")
			must(t, s.CommitTurn(context.Background(), c.Fence, storetest.Turn(c, 1, nil)))
			spoil(t, s, &c)
			before := fingerprint(t, s, rolloutTables...)
			for method, write := range writes(s, c) {
				wantCode(t, write(context.Background(), c.Fence), relabel.CodeLeaseLost)
				for table, sum := range fingerprint(t, s, rolloutTables...) {
					if before[table] != sum {
						t.Fatalf("%s changed %s", method, table)
					}
				}
			}
		})
	}
}

func TestAWriteOutOfStateIsAConflictAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 2).Trajectories[0].ID, "w")
	must(t, s.CommitTurn(context.Background(), c.Fence, storetest.Turn(c, 1, nil)))
	try := func(state relabel.TrajectoryState, methods ...string) {
		t.Helper()
		before := fingerprint(t, s, rolloutTables...)
		for _, m := range methods {
			wantCode(t, writes(s, c)[m](context.Background(), c.Fence), relabel.CodeConflict)
		}
		for table, sum := range fingerprint(t, s, rolloutTables...) {
			if before[table] != sum {
				t.Errorf("%s: %s changed", state, table)
			}
		}
	}
	must(t, writes(s, c)["CommitTurn"](context.Background(), c.Fence))
	try(relabel.Running, "BeginVerifying", "Finish")
	must(t, writes(s, c)["EndRollout"](context.Background(), c.Fence))
	try(relabel.Labelling, "EndRollout", "Finish", "BeginVerifying") // a label is pending
	must(t, writes(s, c)["SettleLabel"](context.Background(), c.Fence))
	try(relabel.Labelling, "SettleLabel")
	must(t, s.BeginVerifying(context.Background(), c.Fence))
	try(relabel.Verifying, "EndRollout", "BeginVerifying", "SettleLabel")
}

func TestTwoClaimersOneClaim(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 5)
	for _, tr := range d.Trajectories {
		for round := range 2 { // first queued, then with a lease that is over
			var won atomic.Int32
			var start, done sync.WaitGroup
			start.Add(1)
			for i := range 8 {
				done.Go(func() {
					start.Wait()
					_, err := s.Claim(context.Background(), tr.ID, string(rune('a'+i)), time.Minute)
					if err == nil {
						won.Add(1)
					} else if relabel.CodeOf(err) != relabel.CodeConflict {
						t.Errorf("claim: %v", err)
					}
				})
			}
			start.Done()
			done.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d claims", won.Load())
			}
			if got := value[int](t, s, "SELECT attempt FROM trajectories WHERE id = $1", tr.ID); got != round+1 {
				t.Fatalf("attempt %d in round %d", got, round+1)
			}
			expire(t, s, tr.ID)
		}
	}
}

func TestWhatIsNotToBeHadIsNotClaimed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	_, err := s.Claim(ctx, c.TrajectoryID, "v", time.Minute)
	wantCode(t, err, relabel.CodeConflict)
	storetest.Finish(t, s, c, 1, false)
	_, err = s.Claim(ctx, c.TrajectoryID, "v", time.Minute)
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.Claim(ctx, relabel.NewID(), "v", time.Minute)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestTheListOfFencedWritesIsWhole(t *testing.T) {
	t.Parallel()
	known := writes(nil, relabel.Claim{})
	known["RecordTime"] = func(context.Context, relabel.Fence) error { return nil } // a fact about an attempt, not a write of the trajectory
	of := reflect.TypeFor[*store.Store]()
	for method := range of.Methods() {
		for i := range method.Type.NumIn() {
			if method.Type.In(i) == reflect.TypeFor[relabel.Fence]() && known[method.Name] == nil {
				t.Errorf("%s takes a fence, and no stale worker has tried it", method.Name)
			}
		}
	}
}
