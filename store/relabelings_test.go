package store_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// doneTrajectory finishes the first trajectory of a seeded run: six labelled turns.
func doneTrajectory(t testing.TB, s *store.Store, d storetest.Seeded) relabel.ID {
	t.Helper()
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "roller")
	storetest.Finish(t, s, c, 6, true)
	return c.TrajectoryID
}

// answerOf is what the other teacher says at turn t: what the first label says at turn 1,
// and what the executed action does at the teacher's turns.
func answerOf(policy relabel.ID, t int) relabel.Action {
	switch {
	case t == 1:
		return storetest.Received(policy, "label 1")
	case t%2 == 0:
		return storetest.Received(policy, fmt.Sprintf("action %d", t))
	}
	return storetest.Received(policy, fmt.Sprintf("other %d", t))
}

func TestAnotherTeacherIsAskedAtEveryStateBesideTheFirst(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id := doneTrajectory(t, s, d)
	before, err := s.ListTurns(ctx, id, 1, 10)
	must(t, err)
	other := storetest.Policy(t, s, "other")

	re, err := s.RelabelTrajectory(ctx, id, other.ID, 5)
	must(t, err)
	if re.State != relabel.RelabelQueued || re.Turns != 6 || re.Pending != 6 || re.Priority != 5 || re.IterationID != d.Iteration.ID {
		t.Fatalf("relabeling %+v", re)
	}
	same, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	if same.ID != re.ID {
		t.Errorf("asked for twice it is two")
	}
	c, err := s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	if len(c.Pending) != 6 || len(c.Turns) != 6 || c.Policy.ID != other.ID || c.Run.ID != d.Run.ID || c.Task.ID != d.Tasks[0].ID {
		t.Fatalf("claim %+v", c)
	}
	for _, turn := range c.Pending[:5] {
		must(t, s.SettleRelabel(ctx, c.RelabelFence, turn, answerOf(other.ID, turn)))
		must(t, s.SettleRelabel(ctx, c.RelabelFence, turn, answerOf(other.ID, turn)))
	}
	wantCode(t, s.SettleRelabel(ctx, c.RelabelFence, 5, storetest.Received(other.ID, "something else")), relabel.CodeConflict)
	wantCode(t, s.SettleRelabel(ctx, c.RelabelFence, 6, storetest.Received(d.Teacher.ID, "mine")), relabel.CodeInvalid)
	must(t, s.SettleRelabel(ctx, c.RelabelFence, 6, relabel.Action{PolicyID: other.ID, Status: relabel.Missing, Reason: "endpoint: HTTP 500"}))
	must(t, s.FinishRelabeling(ctx, c.RelabelFence))

	re, err = s.FindRelabeling(ctx, re.ID)
	must(t, err)
	// Turns 1, 2 and 4 agree; turn 6 has nothing to compare.
	if re.State != relabel.RelabelDone || re.Received != 5 || re.Missing != 1 || re.Pending != 0 || re.Compared != 5 || re.Agreed != 3 {
		t.Errorf("relabeling %+v", re)
	}
	turns, err := s.ListTurns(ctx, id, 1, 10)
	must(t, err)
	for i, turn := range turns {
		if len(turn.Others) != 1 || turn.Others[0].PolicyID != other.ID {
			t.Fatalf("turn %d has others %+v", turn.T, turn.Others)
		}
		if string(turn.Label.Raw) != string(before[i].Label.Raw) || turn.Label.PolicyID != d.Teacher.ID {
			t.Errorf("the first label of turn %d is touched", turn.T)
		}
	}
	at, err := s.FindState(ctx, id, 1, 3)
	must(t, err)
	if o := at[2].Others; len(o) != 1 || o[0].Message.Content != "other 3" {
		t.Errorf("state 3 has others %+v", o)
	}

	// After another request, only the missing labels are pending again.
	again, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	if again.State != relabel.RelabelQueued || again.Pending != 1 || again.Received != 5 {
		t.Errorf("asked for again: %+v", again)
	}
	c, err = s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	if len(c.Pending) != 1 || c.Pending[0] != 6 {
		t.Errorf("pending: %v", c.Pending)
	}
}

func TestTheRunsOwnTeacherMayBeAskedOnceMore(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id := doneTrajectory(t, s, d)
	_, err := s.RelabelTrajectory(ctx, id, d.Teacher.ID, 0)
	must(t, err)
	c, err := s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	for _, turn := range c.Pending {
		answer := storetest.Received(d.Teacher.ID, "again")
		answer.PromptTokenIDs = []int32{1, 2, 3, int32(turn)}
		must(t, s.SettleRelabel(ctx, c.RelabelFence, turn, answer))
	}
	turns, err := s.ListTurns(ctx, id, 1, 10)
	must(t, err)
	for _, turn := range turns {
		if len(turn.Others) != 1 || turn.Label.Message.Content == "again" {
			t.Errorf("turn %d: label %q, others %+v", turn.T, turn.Label.Message.Content, turn.Others)
		}
	}
	must(t, s.FinishRelabeling(ctx, c.RelabelFence))
	deleteRun(t, s, d.Run.ID)
}

func TestARelabelingWhoseWorkerDiedOwesWhatWasNotAnswered(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id := doneTrajectory(t, s, d)
	other := storetest.Policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	dead, err := s.ClaimRelabeling(ctx, "dead", storetest.Lease)
	must(t, err)
	must(t, s.SettleRelabel(ctx, dead.RelabelFence, 2, answerOf(other.ID, 2)))
	_, err = s.ClaimRelabeling(ctx, "another", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
	exec(t, s, "UPDATE relabelings SET lease_until = clock_timestamp() - interval '1 second'")
	exec(t, s, "DELETE FROM river_job")
	must(t, s.WakeLabellers(ctx))
	must(t, s.WakeLabellers(ctx))
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'relabel'"); n != 1 {
		t.Errorf("%d wake-ups for it", n)
	}
	next, err := s.ClaimRelabeling(ctx, "dead", storetest.Lease) // the same name: the claim tells them apart
	must(t, err)
	if fmt.Sprint(next.Pending) != "[1 3 4 5 6]" {
		t.Errorf("pending: %v", next.Pending)
	}
	_, renewed := s.RenewRelabeling(ctx, dead.RelabelFence, storetest.Lease)
	for what, err := range map[string]error{
		"renew": renewed, "settle": s.SettleRelabel(ctx, dead.RelabelFence, 1, answerOf(other.ID, 1)),
		"finish": s.FinishRelabeling(ctx, dead.RelabelFence), "fail": s.FailRelabeling(ctx, dead.RelabelFence, "x"), "release": s.ReleaseRelabeling(ctx, dead.RelabelFence),
	} {
		if relabel.CodeOf(err) != relabel.CodeLeaseLost {
			t.Errorf("a stale worker's %s: %v", what, err)
		}
	}
	if _, err := s.CancelRelabeling(ctx, re.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.SettleRelabel(ctx, next.RelabelFence, 1, answerOf(other.ID, 1)), relabel.CodeLeaseLost)
	progress, err := s.RelabelProgress(ctx, d.Iteration.ID)
	must(t, err)
	if len(progress) != 1 || progress[0].Received != 1 || progress[0].Relabelings[relabel.RelabelCancelled] != 1 {
		t.Errorf("progress %+v", progress)
	}
}

func TestOnlyWhatIsDoneIsRelabelled(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 2)
	other := storetest.Policy(t, s, "other")
	_, err := s.RelabelIteration(ctx, d.Iteration.ID, other.ID, 0)
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.RelabelTrajectory(ctx, d.Trajectories[1].ID, other.ID, 0)
	wantCode(t, err, relabel.CodeConflict)
	id := doneTrajectory(t, s, d)
	progress, err := s.RelabelIteration(ctx, d.Iteration.ID, other.ID, 0)
	must(t, err)
	if progress.Relabelings[relabel.RelabelQueued] != 1 || progress.Pending != 6 {
		t.Errorf("progress %+v", progress)
	}
	list, _, err := s.ListRelabelings(ctx, relabel.RelabelFilter{TrajectoryID: &id, State: relabel.RelabelQueued}, relabel.Page{})
	must(t, err)
	if len(list) != 1 || list[0].InstanceID != d.Tasks[0].InstanceID {
		t.Errorf("list %+v", list)
	}
	n, err := s.CancelRelabelings(ctx, d.Iteration.ID, &d.Teacher.ID)
	must(t, err)
	m, err := s.CancelRelabelings(ctx, d.Iteration.ID, &other.ID)
	must(t, err)
	if n != 0 || m != 1 {
		t.Errorf("cancelled %d and %d", n, m)
	}
}

func TestAnExportMayTakeAnotherTeachersLabels(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id := doneTrajectory(t, s, d)
	other := storetest.Policy(t, s, "other")
	_, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	c, err := s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	must(t, s.SettleRelabel(ctx, c.RelabelFence, 2, answerOf(other.ID, 2)))
	must(t, s.SettleRelabel(ctx, c.RelabelFence, 3, answerOf(other.ID, 3)))
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID, LabelPolicyID: &other.ID}) {
		must(t, err)
		if e.Teacher.ID != other.ID {
			t.Errorf("the labels are those of %s", e.Teacher.Name)
		}
		for _, turn := range e.Turns {
			want := relabel.Missing
			if turn.T == 2 || turn.T == 3 {
				want = relabel.Received
			}
			if turn.Label.PolicyID != other.ID || turn.Label.Status != want {
				t.Errorf("turn %d has the label %+v", turn.T, turn.Label)
			}
			if turn.Action.Message.Content != fmt.Sprintf("action %d", turn.T) {
				t.Errorf("turn %d executed %q", turn.T, turn.Action.Message.Content)
			}
		}
	}
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, LabelPolicyID: &other.ID}}
	must(t, s.CreateExport(ctx, e))
	found, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if found.Selection.LabelPolicyID == nil || *found.Selection.LabelPolicyID != other.ID {
		t.Errorf("selection %+v", found.Selection)
	}
}

// Each is looked at once: not with each other one's trajectory.
func TestTheRelabelingsOfAPausedRunArePassedOver(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1000)
	other := storetest.Policy(t, s, "other")
	exec(t, s, "INSERT INTO relabelings (id, trajectory_id, attempt, policy_id, turns, pending) SELECT gen_random_uuid(), id, 1, $1, 6, 6 FROM trajectories", other.ID)
	_, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, "")
	must(t, err)
	exec(t, s, "ANALYZE")
	plan, err := s.ExplainRelabelClaim(ctx)
	must(t, err)
	for _, removed := range regexp.MustCompile(`Rows Removed by Join Filter: (\d+)`).FindAllStringSubmatch(plan, -1) {
		if len(removed[1]) > 3 {
			t.Errorf("%s rows are compared without need:\n%s", removed[1], plan)
		}
	}
	_, err = s.ClaimRelabeling(ctx, "w", storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
}
