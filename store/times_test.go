package store_test

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

// timed is a turn whose parts took so long, in milliseconds.
func timed(c relabel.Claim, t int, model, label, sandbox, database int64) relabel.Turn {
	had := storetest.Received(c.Teacher.ID, "label")
	had.Millis = label
	turn := storetest.Turn(c, t, &had)
	turn.Action.Millis = model
	for k := range turn.Observations {
		turn.Observations[k].Millis = 0
	}
	turn.Observations[0].Millis = 8
	turn.Time = relabel.TurnTime{Endpoint: 1, Sandbox: sandbox, Database: database}
	return turn
}

// TestTheCriticalPathIsTheLongerOfRolloutAndLastLabel has a run whose student executes
// turns 1, 3 and 5.
func TestTheCriticalPathIsTheLongerOfRolloutAndLastLabel(t *testing.T) {
	for name, want := range map[string]struct {
		labels relabel.LabelMode
		label  int64
		ideal  int64
	}{
		// Three turns of 100 and a command of 8: fingerprints and writes are no part of it.
		"labels end first":       {labels: relabel.LabelsInline, label: 20, ideal: 3 * 108},
		"the last label is last": {labels: relabel.LabelsInline, label: 900, ideal: 2*108 + 900}, // it is asked for when turn 2 is over
		"labels come afterwards": {labels: relabel.LabelsDeferred, label: 900, ideal: 3 * 108},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := storetest.New(t), t.Context()
			d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) { d.Run.Labels = want.labels })
			c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
			for i, database := range []int64{0, 10, 10} {
				must(t, s.CommitTurn(ctx, c.Fence, timed(c, i+1, 100, want.label, 10, database)))
			}
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish}))
			must(t, s.BeginVerifying(ctx, c.Fence))
			spent := relabel.TimeSpent{Start: 1000, Slot: 2000, Endpoint: 3, Model: 300, Sandbox: 30, Database: 30, End: 5, Labels: 800, Verify: 4000, Engine: 7}
			must(t, s.RecordTime(ctx, c.Fence, relabel.TimeSpent{Model: 1}))
			must(t, s.RecordTime(ctx, c.Fence, spent)) // it takes the place of the first
			before, err := s.FindTime(ctx, c.TrajectoryID)
			must(t, err)
			if before.Attempts != 0 || before.Efficiency != nil {
				t.Errorf("an attempt that runs is told of: %+v", before)
			}
			must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Passed: true, Reason: "passed"}))
			must(t, s.RecordTime(ctx, c.Fence, relabel.TimeSpent{Model: 99})) // it is over: changes nothing
			got, err := s.FindTime(ctx, c.TrajectoryID)
			must(t, err)
			actual := int64(3 + 300 + 30 + 30 + 5 + 7) // without start, slot and verification
			if want.labels == relabel.LabelsInline {
				actual += 800
			}
			if got.Spent != spent || got.Attempts != 1 || got.Lost != 0 || got.Ideal != want.ideal || got.Actual != actual ||
				got.Efficiency == nil || *got.Efficiency != float64(want.ideal)/float64(actual) {
				t.Errorf("got %+v, wanted an ideal of %d and an actual of %d", got, want.ideal, actual)
			}
			its, err := s.ListTimes(ctx, d.Run.ID)
			must(t, err)
			if len(its) != 1 || its[0].IterationID != d.Iteration.ID || its[0].Spent != spent || its[0].Ideal != want.ideal {
				t.Errorf("the iteration: %+v", its)
			}
			if it, err := s.FindIterationTime(ctx, d.Iteration.ID); err != nil || !reflect.DeepEqual(it, its[0].TimeReport) {
				t.Errorf("the iteration alone: %+v, %v", it, err)
			}
			turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
			must(t, err)
			if got := turns[1].Time; got != (relabel.TurnTime{Endpoint: 1, Sandbox: 10, Database: 10}) || turns[0].Label.Millis != want.label || turns[0].Action.Millis != 100 {
				t.Errorf("the turns are read back as %+v and %+v", turns[0], turns[1])
			}
		})
	}
}

// TestTheTimeOfADeadWorkerIsLost says so instead of leaving it out.
func TestTheTimeOfADeadWorkerIsLost(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), t.Context()
	d := storetest.Seed(t, s, 1)
	dead := storetest.Claim(t, s, d.Trajectories[0].ID, "dead")
	_, err := s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "dead" })
	must(t, err)
	must(t, s.RecordTime(ctx, dead.Fence, relabel.TimeSpent{Model: 5})) // it wakes up too late
	_, err = s.Pool().Exec(ctx, "UPDATE attempts SET started_at = ended_at - $1::interval", 1500*time.Millisecond)
	must(t, err)
	got, err := s.FindTime(ctx, d.Trajectories[0].ID)
	must(t, err)
	if got.Attempts != 0 || got.Spent != (relabel.TimeSpent{}) || got.Lost != 1500 {
		t.Errorf("got %+v", got)
	}
	if _, err := s.ListTimes(ctx, relabel.NewID()); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestAnOverviewCountsWhatIsThere(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), t.Context()
	empty, err := s.Overview(ctx)
	must(t, err)
	if len(empty.Runs) != 0 || len(empty.Total.Trajectories) != 0 || empty.Efficiency != nil {
		t.Errorf("nothing is there: %+v", empty)
	}
	storetest.Seed(t, s, 2)
	d := storetest.Seed(t, s, 3)
	done := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.RecordTime(ctx, done.Fence, relabel.TimeSpent{Model: 60, Engine: 20, Database: 20}))
	storetest.Finish(t, s, done, 6, true)
	owing := storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	must(t, s.CommitTurn(ctx, owing.Fence, storetest.Turn(owing, 1, nil)))
	got, err := s.Overview(ctx)
	must(t, err)
	want := map[relabel.TrajectoryState]int{relabel.Queued: 3, relabel.Running: 1, relabel.Done: 1}
	if !maps.Equal(got.Total.Trajectories, want) || got.Total.Turns != 7 || got.Total.TeacherTurns != 3 ||
		got.Total.LabelsReceived != 6 || got.Total.LabelsPending != 1 || got.Actual != 100 {
		t.Errorf("in all: %+v", got)
	}
	if len(got.Runs) != 2 || got.Runs[0].RunID != d.Run.ID || got.Runs[0].Name != d.Run.Name || got.Runs[0].Progress.LabelsPending != 1 ||
		got.Runs[0].Progress.Trajectories[relabel.Queued] != 1 || got.Runs[0].Efficiency == nil || got.Runs[1].Efficiency != nil {
		t.Errorf("by run, the newest first: %+v", got.Runs)
	}
	if got.Jobs["rollout"] == 0 {
		t.Errorf("jobs that wait: %v", got.Jobs)
	}
}
