package store_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// cutOnce cuts the line when the next exchange with the statement is done, before its
// answer is heard.
func cutOnce(l *storetest.Line, statement string) {
	armed := true
	l.CutAt(storetest.BeforeAnswer, func(_ int, sql string) bool {
		now := armed && strings.Contains(sql, statement)
		armed = armed && !now
		return now
	})
}

func TestAnUnclearCommitIsSettledByItsKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	database := storetest.Schema(t)
	direct := storetest.Open(t, database)
	must(t, direct.Migrate(ctx))
	d := storetest.Seed(t, direct, 2)
	l := storetest.NewLine(t, database)
	s := storetest.Open(t, l.URL)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")

	cutAt := func(statement, what string, write func() error) {
		t.Helper()
		cutOnce(l, statement)
		if err := write(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if l.WasCut() == "" {
			t.Fatalf("%s: the line was not cut", what)
		}
	}
	cut := func(what string, write func() error) { t.Helper(); cutAt("commit; ", what, write) }
	label := storetest.Received(c.Teacher.ID, "late")
	const turn = "FROM room; INSERT INTO actions" // all of it in one exchange
	cutAt(turn, "turn 1", func() error { return s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)) })
	cutAt(turn, "turn 2", func() error { return s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)) })
	cut("label", func() error { return s.SettleLabel(ctx, c.Fence, 1, label) })
	cutAt("SET lease_until", "renewal", func() error { return renew(s, c.Fence) })
	cut("ending", func() error { return s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish}) })
	cut("verifying", func() error { return s.BeginVerifying(ctx, c.Fence) })
	cut("verdict", func() error { return s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "empty_patch"}) })
	var other relabel.Claim
	cut("claim", func() (err error) { other, err = s.ClaimNext(ctx, "w", relabel.Repair, time.Minute); return err })
	if n := value[int](t, direct, "SELECT attempt FROM trajectories WHERE id = $1", other.TrajectoryID); n != 1 || other.Attempt != 1 || other.Run.ID != d.Run.ID {
		t.Errorf("attempt %d, and the claim is %+v", n, other.Fence)
	}
	cut("release", func() error { return s.Release(ctx, other.Fence) })
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	must(t, s.CommitTurn(ctx, other.Fence, storetest.Turn(other, 1, nil)))
	cut("broken sandbox", func() error { return s.ReleaseBroken(ctx, other.Fence, "the engine is gone", 0, nil) })
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	cut("adoption", func() error { return s.AdoptTurns(ctx, other.Fence, other.Trajectory.Trail) })
	must(t, s.Release(ctx, other.Fence))
	other = storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	cut("divergence", func() error { return s.Diverge(ctx, other.Fence, other.Trajectory.Trail, "turn 1: another tree") })
	must(t, s.CommitTurn(ctx, other.Fence, storetest.Turn(other, 1, nil)))
	if n := other.Trajectory.EnvironmentFailures; n != 1 {
		t.Errorf("one broken sandbox was counted %d times", n)
	}
	cut("failure", func() error { return s.Fail(ctx, other.Fence, relabel.FailEndpoint, "gone") })

	if n := value[int](t, direct, "SELECT count(*) FROM turns"); n != 4 { // one of them diverged
		t.Errorf("%d turns, not 4", n)
	}
	it, _, err := direct.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone {
		t.Errorf("each trajectory ended once, but the iteration is %s", it.State)
	}
}

func TestADatabaseThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	_, err := store.Open(context.Background(), "postgres:///relabel?user=relabel&host="+url.QueryEscape(t.TempDir()))
	wantCode(t, err, relabel.CodeUnavailable)
	_, err = store.Open(context.Background(), "postgres://relabel@:x:y/")
	wantCode(t, err, relabel.CodeInvalid)
}

// What a person asked for took place although its answer was lost: it is no failure, and
// nothing is there twice.
func TestAnUnclearCommitOfARequestIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	database := storetest.Schema(t)
	direct := storetest.Open(t, database)
	must(t, direct.Migrate(ctx))
	d := storetest.Seed(t, direct, 3)
	storetest.Finish(t, direct, storetest.Claim(t, direct, d.Trajectories[0].ID, "w"), 6, true)
	must(t, direct.Fail(ctx, storetest.Claim(t, direct, d.Trajectories[1].ID, "w").Fence, relabel.FailEndpoint, "gone"))
	l := storetest.NewLine(t, database)
	s := storetest.Open(t, l.URL)

	set, run, next := d.Taskset, d.Run, d.Iteration
	set.ID, set.Name, run.ID, run.Name, next.ID, next.Number = relabel.NewID(), "set", relabel.NewID(), "run", relabel.NewID(), 2
	export := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f", Directory: "x"}
	other := storetest.Policy(t, direct, "other")
	n := 5
	for _, request := range []struct {
		name string
		make func() error
	}{
		{"key", func() error {
			earlier, err := s.BeginIdempotent(ctx, relabel.Idempotent{Key: "key", Route: "POST /v1/runs"})
			if earlier != nil {
				t.Errorf("it was answered: %+v", earlier)
			}
			return err
		}},
		{"taskset", func() error { return s.CreateTaskset(ctx, set, relabel.TaskList(nil)) }},
		{"policy", func() error {
			_, err := s.CreatePolicy(ctx, relabel.Policy{Name: "new", BaseURL: "http://127.0.0.1:9/v1", Model: "m", Server: relabel.ServerScripted})
			return err
		}},
		{"run", func() error { return s.CreateRun(ctx, run) }},
		{"iteration", func() error {
			return s.CreateIteration(ctx, relabel.PlannedIteration{Iteration: next, Trajectories: []relabel.Trajectory{
				{TaskID: d.Tasks[0].ID, Executors: "s"}}})
		}},
		{"export", func() error { return s.CreateExport(ctx, export) }},
		{"token", func() error { _, err := s.CreateToken(ctx, "token", relabel.FullAccess); return err }},
		{"scheduling", func() error {
			_, err := s.SetScheduling(ctx, d.Run.ID, relabel.SchedulingChange{Priority: &n})
			return err
		}},
		{"pause", func() error { _, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, ""); return err }},
		{"retry", func() error {
			retried, err := s.RetryFailed(ctx, d.Iteration.ID, nil)
			if err == nil && retried != 1 {
				t.Errorf("%d were retried", retried)
			}
			return err
		}},
		{"relabeling", func() error { _, err := s.RelabelIteration(ctx, d.Iteration.ID, other.ID, 0); return err }},
		{"end of relabelings", func() error {
			cancelled, err := s.CancelRelabelings(ctx, d.Iteration.ID, nil)
			if err == nil && cancelled != 1 {
				t.Errorf("%d were cancelled", cancelled)
			}
			return err
		}},
		{"cancel", func() error { _, err := s.CancelIteration(ctx, d.Iteration.ID); return err }},
		{"revocation", func() error { return s.RevokeToken(ctx, "token") }},
		{"deletion", func() error { return s.BeginDeletion(ctx, run.ID) }},
	} {
		cutOnce(l, "commit")
		if err := request.make(); err != nil {
			t.Errorf("%s: %v", request.name, err)
		}
		if l.WasCut() == "" {
			t.Errorf("%s: the line was not cut", request.name)
		}
	}
	if n := value[int](t, direct, "SELECT count(*) FROM trajectories"); n != 4 {
		t.Errorf("%d trajectories", n)
	}
	if n := value[int](t, direct, "SELECT count(*) FROM exports"); n != 1 {
		t.Errorf("%d exports", n)
	}
}
