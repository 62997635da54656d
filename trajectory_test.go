package relabel_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"relabel"
)

// The whole machine, as the drawing in docs/ shows it.
func TestTrajectoryStateMachine(t *testing.T) {
	allowed := map[relabel.TrajectoryState][]relabel.TrajectoryState{
		relabel.Queued:    {relabel.Running, relabel.Labelling, relabel.Cancelled},
		relabel.Running:   {relabel.Labelling, relabel.Queued, relabel.Failed, relabel.Cancelled},
		relabel.Labelling: {relabel.Verifying, relabel.Queued, relabel.Failed, relabel.Cancelled},
		relabel.Verifying: {relabel.Done, relabel.Queued, relabel.Failed, relabel.Cancelled},
		relabel.Failed:    {relabel.Queued},
	}
	for _, from := range relabel.TrajectoryStates {
		for _, to := range relabel.TrajectoryStates {
			if got, want := from.CanBecome(to), slices.Contains(allowed[from], to); got != want {
				t.Errorf("%s to %s is %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestNothingFollowsATerminalState(t *testing.T) {
	for _, s := range relabel.TrajectoryStates {
		want := s == relabel.Done || s == relabel.Failed || s == relabel.Cancelled
		if s.Terminal() != want {
			t.Errorf("%s is terminal: %v", s, s.Terminal())
		}
	}
}

func TestEveryWalkEndsInOneTerminalStateByWayOfVerification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk := []relabel.TrajectoryState{relabel.Queued}
		for range 40 {
			var next []relabel.TrajectoryState
			for _, s := range relabel.TrajectoryStates {
				if walk[len(walk)-1].CanBecome(s) {
					next = append(next, s)
				}
			}
			if len(next) == 0 {
				break
			}
			walk = append(walk, rapid.SampledFrom(next).Draw(t, "next"))
		}
		for k, s := range walk {
			retried := s == relabel.Failed && k < len(walk)-1 && walk[k+1] == relabel.Queued
			if s.Terminal() && k != len(walk)-1 && !retried {
				t.Fatalf("%v goes on after a terminal state", walk)
			}
			if s == relabel.Done && (k < 3 || !slices.Equal(walk[k-2:k], []relabel.TrajectoryState{relabel.Labelling, relabel.Verifying})) {
				t.Fatalf("%v is done without its steps", walk)
			}
		}
	})
}

func TestExecutorsSayWhoExecutesATurn(t *testing.T) {
	e := relabel.Executors("sT")
	if e.At(1) != relabel.Student || e.At(2) != relabel.Teacher {
		t.Errorf("turn 1 is the %s's, turn 2 the %s's", e.At(1), e.At(2))
	}
}
