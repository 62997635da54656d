package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

func TestExcludedTasksAreNeverRolledOut(t *testing.T) {
	tasks := tasksOf(6, 3)
	tasks[1].Excluded, tasks[4].Excluded = "the gold patch fails", "flaky"
	if got := instances(plan(t, runOf(relabel.DAgger), 1, collect(), tasks)); !slices.Equal(got, []string{"task-000", "task-002"}) {
		t.Errorf("it rolls out %v", got)
	}
	evaluate := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true}
	if got := instances(plan(t, runOf(relabel.DAgger), 1, evaluate, tasks)); !slices.Equal(got, []string{"task-003", "task-005"}) {
		t.Errorf("an evaluation rolls out %v", got)
	}
	refused := func(ask relabel.NewIteration, field string) {
		t.Helper()
		_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
		wantField(t, err, field)
		if err == nil || !strings.Contains(err.Error(), "is excluded: the gold patch fails") {
			t.Errorf("%v does not say that the task is excluded", err)
		}
	}
	named := collect()
	named.Instances = []string{"task-001"}
	refused(named, "instances")
	named.Kind = relabel.Evaluate
	refused(named, "instances")
	again := collect()
	again.Again = &relabel.Draw{IterationID: relabel.NewID(), Generations: 1, Instances: []string{"task-001"}}
	refused(again, "again")
}
