package e2e

import (
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

func TestATaskWithoutItsImageFailsWithoutAffectingOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	// Nothing listens there, so that the engine knows at once that it cannot be pulled.
	l.tasks[1].Image = "127.0.0.1:9/relabel/there-is-no-such-image:1"
	l.writeTasks(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	r := b.finish(t, b.start(t, b.run(t, "one without", nil), b.policy(t, m.student("0.5")), map[string]any{"beta": 1}))
	if r.State != relabel.IterationDone || len(r.trajectories) != 2 {
		t.Fatalf("%s with %d trajectories", r.State, len(r.trajectories))
	}
	for _, j := range r.trajectories {
		if j.InstanceID == l.tasks[1].InstanceID {
			if j.State != relabel.Failed || j.Failure != relabel.FailImageMissing || j.FailureDetail == "" || len(j.calls) != 0 {
				t.Errorf("it is %s, %s (%s), after %d calls", j.State, j.Failure, j.FailureDetail, len(j.calls))
			}
		} else if j.State != relabel.Done || !*j.Resolved {
			t.Errorf("%s is %s, %s %s", j.InstanceID, j.State, j.Failure, j.FailureDetail)
		}
	}
}
