package schedule_test

import (
	"slices"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

// verified are the numbers of the trajectories that a plan verifies.
func verified(p relabel.PlannedIteration) (numbers []int) {
	for i, tr := range p.Trajectories {
		if !tr.SkipVerify {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func TestASampleOfTrajectoriesIsVerified(t *testing.T) {
	tasks, run := tasksOf(20, 2), runOf(relabel.DAgger)
	all := len(plan(t, run, 1, collect(), tasks).Trajectories)
	for policy, want := range map[relabel.VerifyPolicy]int{"": all, "all": all, "none": 0, "sample:1": 1, "sample:7": 7, "sample:999": all} {
		run.Verify = policy
		p := plan(t, run, 1, collect(), tasks)
		if got := verified(p); len(got) != want {
			t.Errorf("%q verifies %v of %d", policy, got, all)
		}
	}
	run.Verify = "sample:7"
	first, again, next := verified(plan(t, run, 1, collect(), tasks)), verified(plan(t, run, 1, collect(), tasks)), verified(plan(t, run, 2, collect(), tasks))
	if !slices.Equal(first, again) || slices.Equal(first, next) {
		t.Errorf("drawn %v, again %v, in the next iteration %v", first, again, next)
	}
	ask := collect()
	ask.Verify = relabel.VerifyNone
	if p := plan(t, run, 1, ask, tasks); len(verified(p)) != 0 || p.Iteration.Verify != relabel.VerifyNone {
		t.Errorf("the iteration's own policy does not replace the run's: %v", verified(p))
	}
}

func TestAnEvaluationVerifiesAll(t *testing.T) {
	tasks, run := tasksOf(4, 2), runOf(relabel.DAgger)
	run.Verify = relabel.VerifyNone
	ask := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true}
	if p := plan(t, run, 1, ask, tasks); len(verified(p)) != len(p.Trajectories) || p.Iteration.Verify != relabel.VerifyAll {
		t.Errorf("%s verifies %v", p.Iteration.Verify, verified(p))
	}
	ask.Verify = "sample:1"
	_, err := schedule.Plan(run, 1, ask, tasks)
	wantField(t, err, "verify")
}

func TestAVerifyPolicyThatCannotBeIsRefused(t *testing.T) {
	for _, policy := range []relabel.VerifyPolicy{"some", "sample:", "sample:0", "sample:-1", "sample:1.5", "sample:07", "sample:1000000", "ALL"} {
		run := runOf(relabel.DAgger)
		run.Verify = policy
		wantField(t, schedule.ValidateRun(run), "verify")
	}
}

func TestAnswersToLocaliseAreAlwaysScored(t *testing.T) {
	run := runOf(relabel.DAgger)
	run.TaskKind, run.Limits = relabel.Localise, relabel.Localise.DefaultLimits()
	if err := schedule.ValidateRun(run); err != nil {
		t.Error(err)
	}
	ask := collect()
	ask.Verify = relabel.VerifyNone
	_, err := schedule.Plan(run, 1, ask, tasksOf(4, 2))
	wantField(t, err, "verify")
	run.Verify = "sample:3"
	wantField(t, schedule.ValidateRun(run), "verify")
}
