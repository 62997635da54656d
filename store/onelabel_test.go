package store_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// unlabelled counts the turns of collect iterations that have not exactly one label.
const unlabelled = `SELECT count(*) FROM turns tu WHERE tu.kind = 'collect' AND 1 <> (SELECT count(*) FROM actions a
	WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample))`

func TestOneLabelAStateIsAConstraint(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)))
	place := fmt.Sprintf("trajectory_id = '%s' AND attempt = 1", c.TrajectoryID)
	for what, sql := range map[string]string{
		"a second answer of the teacher":                                      "INSERT INTO actions (trajectory_id, attempt, t, policy_id, sample, status) SELECT trajectory_id, attempt, t, policy_id, sample, 'pending' FROM actions WHERE status = 'pending'",
		"a turn whose label is taken away":                                    "UPDATE turns SET label_policy_id = NULL, label_sample = NULL WHERE t = 1 AND " + place,
		"a label that is deleted":                                             "DELETE FROM actions WHERE status = 'pending'",
		"an executed action that is gone":                                     "DELETE FROM actions WHERE t = 2",
		"a label that is not the teacher's action where the teacher executed": "UPDATE turns SET label_sample = 1 WHERE t = 2 AND " + place,
		"a student's action as its own label":                                 "UPDATE turns SET label_policy_id = executor_policy_id WHERE t = 1 AND " + place,
		"an action without a turn":                                            "UPDATE actions SET t = 6 WHERE status = 'pending'",
	} {
		if violated(t, s, sql) == "" {
			t.Errorf("the database took %s", what)
		}
	}
	if got := violated(t, s, fmt.Sprintf("INSERT INTO actions (trajectory_id, attempt, t, policy_id, status) VALUES ('%s', 1, 1, '%s', 'pending')",
		c.TrajectoryID, storetest.Policy(t, s, "another teacher").ID)); got != "" {
		t.Errorf("another teacher's answer is refused by %s", got)
	}
}

func TestEvaluationsAndSamplesHaveNoLabels(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	for i, kind := range []relabel.IterationKind{relabel.Evaluate, relabel.Sample} {
		d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
			d.Run.Name = fmt.Sprint("run ", i)
			d.Iteration.Kind, d.Iteration.Beta, d.Trajectories[0].Executors = kind, nil, "ssss"
		})
		commitWithoutLabel(t, s, d)
	}
}

func commitWithoutLabel(t *testing.T, s *store.Store, d storetest.Seeded) {
	t.Helper()
	ctx := context.Background()
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	wantCode(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)), relabel.CodeInvalid)
	turn := storetest.Turn(c, 1, nil)
	turn.Label = nil
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
	must(t, err)
	if len(turns) != 1 || turns[0].Label != nil {
		t.Errorf("turns: %+v", turns)
	}
}

func TestACollectedTurnWithoutALabelIsRefused(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	turn := storetest.Turn(c, 1, nil)
	turn.Label = nil
	wantCode(t, s.CommitTurn(context.Background(), c.Fence, turn), relabel.CodeInvalid)
	if n := value[int](t, s, "SELECT count(*) FROM turns"); n != 0 {
		t.Errorf("%d turns are there", n)
	}
}

func TestTeacherAndStudentMayBeTheSamePolicy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) { d.Iteration.StudentID = d.Teacher.ID })
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	must(t, s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Teacher.ID, "the label")))
	turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 1)
	must(t, err)
	if turns[0].Action.Message.Content != "action 1" || turns[0].Label == nil || turns[0].Label.Message.Content != "the label" {
		t.Errorf("turn: %+v", turns[0])
	}
}

// rolling is a rollout that a property test drives.
type rolling struct {
	t       *testing.T
	s       *store.Store
	c       relabel.Claim
	pending []int
	next    int
}

func (r *rolling) step(rt *rapid.T) {
	ctx := context.Background()
	switch rapid.SampledFrom([]string{"commit", "commit", "commit", "settle", "settle", "release", "takeover"}).Draw(rt, "do") {
	case "commit":
		if r.next > len(r.c.Trajectory.Executors) {
			return
		}
		label := drawnLabel(rt, r.c)
		turn := storetest.Turn(r.c, r.next, &label)
		must(r.t, r.s.CommitTurn(ctx, r.c.Fence, turn))
		if turn.Executor == relabel.Student && label.Status == relabel.Pending {
			r.pending = append(r.pending, r.next)
		}
		r.next++
	case "settle":
		if len(r.pending) == 0 {
			return
		}
		k := rapid.IntRange(0, len(r.pending)-1).Draw(rt, "which")
		must(r.t, r.s.SettleLabel(ctx, r.c.Fence, r.pending[k], storetest.Received(r.c.Teacher.ID, "late")))
		r.pending = append(r.pending[:k], r.pending[k+1:]...)
	case "release":
		must(r.t, r.s.Release(ctx, r.c.Fence))
		r.claim(rt, "w")
	case "takeover":
		expire(r.t, r.s, r.c.TrajectoryID)
		r.claim(rt, "v")
	}
}

func (r *rolling) claim(rt *rapid.T, owner string) {
	r.c = storetest.Claim(r.t, r.s, r.c.TrajectoryID, owner)
	r.takeUp(rt)
}

// takeUp resumes what the claim found, as a worker would that replayed it.
func (r *rolling) takeUp(rt *rapid.T) {
	ctx := context.Background()
	from := r.c.Trajectory.Trail
	if len(r.c.Turns) != r.next-1 || (len(r.c.Turns) > 0) != (from < r.c.Attempt) {
		r.t.Fatalf("the claim has %d turns of attempt %d, not %d", len(r.c.Turns), from, r.next-1)
	}
	if len(r.c.Turns) == 0 {
		return
	}
	switch rapid.SampledFrom([]string{"adopt", "adopt", "diverge", "die"}).Draw(rt, "replay") {
	case "adopt":
		must(r.t, r.s.AdoptTurns(ctx, r.c.Fence, from))
	case "diverge":
		must(r.t, r.s.Diverge(ctx, r.c.Fence, from, "turn 1: another tree"))
		r.pending, r.next = nil, 1
	case "die":
		must(r.t, r.s.Release(ctx, r.c.Fence))
		r.claim(rt, "u")
	}
}

// TestEveryVisitedStateHasOneLabel commits, settles, releases, takes over, replays and
// diverges at random.
func TestEveryVisitedStateHasOneLabel(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := &rolling{t: t, s: s, c: relabel.Claim{Fence: relabel.Fence{TrajectoryID: storetest.Seed(t, s, 1).Trajectories[0].ID}}, next: 1}
		r.claim(rt, "w")
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			r.step(rt)
			checkLabels(t, s, r.c, len(r.pending), r.next-1)
		}
	})
}

func drawnLabel(rt *rapid.T, c relabel.Claim) relabel.Action {
	switch status := rapid.SampledFrom([]relabel.ActionStatus{relabel.Pending, relabel.Received, relabel.Missing}).Draw(rt, "label"); status {
	case relabel.Received:
		return storetest.Received(c.Teacher.ID, "at once")
	case relabel.Missing:
		return relabel.Action{PolicyID: c.Teacher.ID, Status: status, Reason: "endpoint: gone"}
	}
	return relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Pending}
}

func checkLabels(t *testing.T, s *store.Store, c relabel.Claim, pending, turns int) {
	t.Helper()
	if n := value[int](t, s, unlabelled); n != 0 {
		t.Fatalf("%d turns have not exactly one label", n)
	}
	if n := value[int](t, s, "SELECT count(*) FROM actions WHERE status = 'pending' AND trajectory_id = $1", c.TrajectoryID); n != pending {
		t.Fatalf("%d labels are pending, not %d", n, pending)
	}
	counted := value[bool](t, s, `SELECT tr.turns = $2 AND tr.labels_pending = $3 AND tr.labels_received = (SELECT count(*) FROM turns tu JOIN actions a
		ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.attempt AND a.status = 'received')
		FROM trajectories tr WHERE tr.id = $1`, c.TrajectoryID, turns, pending)
	if !counted || value[int](t, s, miscounted+" AND tr.id = $1", c.TrajectoryID) > 0 {
		t.Fatal("the trajectory's counts are not those of its turns")
	}
}
