package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

// reserve marks tasks of the list as those of a benchmark.
func reserve(tasks []relabel.Task, at ...int) map[relabel.ID]string {
	reserved := map[relabel.ID]string{}
	for _, i := range at {
		reserved[tasks[i].ID] = "verified"
	}
	return reserved
}

func TestReservedTasksAreNotDrawnForCollection(t *testing.T) {
	tasks := tasksOf(6, 1)
	ask := collect()
	ask.Reserved = reserve(tasks, 1, 3)
	p := plan(t, runOf(relabel.DAgger), 1, ask, tasks)
	if got := instances(p); !slices.Equal(slices.Compact(got), []string{"task-000", "task-002", "task-004"}) || p.Iteration.ReservedTasks != 2 {
		t.Errorf("drew %v and excluded %d", got, p.Iteration.ReservedTasks)
	}
	if !slices.Equal(p.ReservedBy, []string{"verified"}) {
		t.Errorf("reserved by %q", p.ReservedBy)
	}
	ask.Tasks = 4
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
	wantField(t, err, "tasks")
	if !strings.Contains(err.Error(), "besides 2 that the benchmarks and exclusion lists verified reserve") {
		t.Error(err)
	}
	ask.Tasks = 3
	if p := plan(t, runOf(relabel.DAgger), 1, ask, tasks); len(slices.Compact(instances(p))) != 3 {
		t.Errorf("a draw of 3 has %v", instances(p))
	}
	ask.Tasks, ask.Reserved = 0, reserve(tasks, 0, 1, 2, 3, 4)
	_, err = schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
	wantField(t, err, "allow_benchmarks")
	if !strings.Contains(err.Error(), "the benchmarks and exclusion lists verified reserve the 5 tasks") {
		t.Error(err)
	}
}

func TestNamedReservedTasksAreRefused(t *testing.T) {
	tasks := tasksOf(6, 1)
	ask := collect()
	ask.Instances, ask.Reserved = []string{"task-001"}, reserve(tasks, 1)
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
	wantField(t, err, "instances")
	if err == nil || !strings.Contains(err.Error(), "verified") {
		t.Errorf("%v does not name the benchmark", err)
	}
	run := runOf(relabel.DAgger)
	draw := relabel.Draw{IterationID: relabel.NewID(), TasksetID: run.TasksetID, Generations: 1, Instances: []string{"task-001"}}
	ask.Instances, ask.Again = nil, &draw
	_, err = schedule.Plan(run, 1, ask, tasks)
	wantField(t, err, "again")
}

func TestAnEvaluationRollsOutExactlyItsBenchmark(t *testing.T) {
	tasks := tasksOf(5, 1)
	benchmark := relabel.Benchmark{ID: relabel.NewID(), Name: "verified", Limits: relabel.PaperLimits}
	benchmark.Limits.MaxTurns = 7
	ask := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), OnBenchmark: &benchmark, Reserved: reserve(tasks, 0), Generations: 2}
	p := plan(t, runOf(relabel.DAgger), 1, ask, tasks)
	if len(p.Trajectories) != 10 || *p.Iteration.BenchmarkID != benchmark.ID || p.Iteration.ReservedTasks != 0 {
		t.Errorf("%d trajectories, %+v", len(p.Trajectories), p.Iteration)
	}
	if got := p.Trajectories[0].Executors; got != schedule.Prefix(7, 7) {
		t.Errorf("executors %s for at most 7 turns", got)
	}
	for field, change := range map[string]func(*relabel.NewIteration){
		"benchmark":        func(a *relabel.NewIteration) { a.Tasks = 2 },
		"allow_benchmarks": func(a *relabel.NewIteration) { a.AllowBenchmarks = []string{"verified"} },
	} {
		wrong := ask
		change(&wrong)
		_, err := schedule.Plan(runOf(relabel.DAgger), 1, wrong, tasks)
		wantField(t, err, field)
	}
	wrong := ask
	wrong.Kind = relabel.Collect
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, wrong, tasks)
	wantField(t, err, "benchmark")
}

func TestAnIterationRecordsAllowedBenchmarks(t *testing.T) {
	run, ask := runOf(relabel.DAgger), collect()
	run.AllowBenchmarks, ask.AllowBenchmarks = []string{"b", "a"}, []string{"c", "a"}
	if got := plan(t, run, 1, ask, tasksOf(2, 0)).Iteration.AllowBenchmarks; !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("allows %v", got)
	}
}
