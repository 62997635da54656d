package schedule_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/api"
	"relabel/mixer/schedule"
)

// tasksOf makes n tasks, the last heldOut of them held out.
func tasksOf(n, heldOut int) []relabel.Task {
	tasks := make([]relabel.Task, n)
	for k := range tasks {
		tasks[k] = relabel.Task{ID: relabel.NewID(), InstanceID: fmt.Sprintf("task-%03d", k), HeldOut: k >= n-heldOut}
	}
	return tasks
}

func runOf(recipe relabel.Recipe) relabel.Run {
	return schedule.Defaults(relabel.Run{ID: relabel.NewID(), Recipe: recipe, Seed: 5, Limits: relabel.PaperLimits})
}

func collect() relabel.NewIteration {
	return relabel.NewIteration{Kind: relabel.Collect, StudentID: relabel.NewID()}
}

func instances(p relabel.PlannedIteration) []string {
	var ids []string
	for _, tr := range p.Trajectories {
		ids = append(ids, tr.InstanceID)
	}
	return ids
}

func plan(t *testing.T, run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) relabel.PlannedIteration {
	t.Helper()
	p, err := schedule.Plan(run, number, ask, tasks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCollectRollsOutEveryTaskThatIsNotHeldOut(t *testing.T) {
	tasks := tasksOf(5, 2)
	ask := collect()
	ask.Generations = 2
	p := plan(t, runOf(relabel.DAgger), 2, ask, tasks)
	want := []string{"task-000", "task-000", "task-001", "task-001", "task-002", "task-002"}
	if got := instances(p); !slices.Equal(got, want) {
		t.Errorf("rolls out %v, want %v", got, want)
	}
	if *p.Iteration.Beta != 0.8 || p.Iteration.Rho != nil {
		t.Errorf("β2 = %v, ρ %v", *p.Iteration.Beta, p.Iteration.Rho)
	}
	for _, tr := range p.Trajectories {
		if tr.State != relabel.Queued || tr.Attempt != 0 || len(tr.Executors) != 100 || tr.IterationID != p.Iteration.ID || tr.Iteration != 2 || tr.Kind != relabel.Collect {
			t.Errorf("trajectory %+v", tr)
		}
	}
	if p.Trajectories[0].Executors == p.Trajectories[1].Executors {
		t.Error("two generations have the same draws")
	}
}

func TestHeldOutTasksAreNeverCollectedOn(t *testing.T) {
	tasks := tasksOf(3, 1)
	ask := collect()
	ask.Instances = []string{"task-002"}
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
	wantField(t, err, "instances")
	if err == nil || !strings.Contains(err.Error(), "task-002") {
		t.Errorf("%v does not name the task", err)
	}
	run := runOf(relabel.DAgger)
	run.Instances = []string{"task-000", "task-002"}
	_, err = schedule.Plan(run, 1, collect(), tasks)
	wantField(t, err, "instances")
	ask = collect()
	ask.HeldOut = true
	_, err = schedule.Plan(runOf(relabel.DAgger), 1, ask, tasks)
	wantField(t, err, "held_out")
}

func TestEvaluateIsTheStudentAlone(t *testing.T) {
	ask := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true}
	for _, recipe := range []relabel.Recipe{relabel.SFT, relabel.DAgger, relabel.AggreVaTe} {
		p := plan(t, runOf(recipe), 1, ask, tasksOf(4, 2))
		if got := instances(p); !slices.Equal(got, []string{"task-002", "task-003"}) {
			t.Errorf("%s: evaluates on %v", recipe, got)
		}
		for _, tr := range p.Trajectories {
			if tr.Executors != schedule.Prefix(100, 100) || tr.Kappa != nil {
				t.Errorf("%s: executors %s, κ %v", recipe, tr.Executors, tr.Kappa)
			}
		}
		if p.Iteration.Beta != nil || p.Iteration.Rho != nil || p.Iteration.Generations != 1 {
			t.Errorf("%s: iteration %+v", recipe, p.Iteration)
		}
	}
	ask = relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), Instances: []string{"task-003", "task-000"}}
	if got := instances(plan(t, runOf(relabel.DAgger), 1, ask, tasksOf(4, 2))); !slices.Equal(got, []string{"task-000", "task-003"}) {
		t.Errorf("by name it evaluates on %v", got)
	}
}

func TestRecipesSetTheirMixture(t *testing.T) {
	sft := plan(t, runOf(relabel.SFT), 3, collect(), tasksOf(1, 0))
	if *sft.Iteration.Beta != 1 || sft.Trajectories[0].Executors != schedule.Prefix(0, 100) {
		t.Errorf("sft: β %v, %s", *sft.Iteration.Beta, sft.Trajectories[0].Executors)
	}
	aggrevate := plan(t, runOf(relabel.AggreVaTe), 3, collect(), tasksOf(20, 0))
	if aggrevate.Iteration.Beta != nil || aggrevate.Iteration.Rho.Kind != schedule.Shifting {
		t.Errorf("aggrevate: %+v", aggrevate.Iteration)
	}
	for _, tr := range aggrevate.Trajectories {
		if tr.Executors != schedule.Prefix(*tr.Kappa, 100) {
			t.Errorf("κ=%d but %s", *tr.Kappa, tr.Executors)
		}
	}
	zero := 0.0
	ask := collect()
	ask.Beta = &zero
	if p := plan(t, runOf(relabel.DAgger), 1, ask, tasksOf(1, 0)); p.Trajectories[0].Executors != schedule.Prefix(100, 100) {
		t.Errorf("β=0: %s", p.Trajectories[0].Executors)
	}
}

func TestSameSeedPlansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := tasksOf(rapid.IntRange(1, 12).Draw(t, "tasks"), 0)
		run := runOf(rapid.SampledFrom([]relabel.Recipe{relabel.DAgger, relabel.AggreVaTe}).Draw(t, "recipe"))
		run.Seed = rapid.Int64().Draw(t, "seed")
		ask := collect()
		ask.Tasks = rapid.IntRange(0, len(tasks)).Draw(t, "n")
		ask.Generations = rapid.IntRange(1, 3).Draw(t, "generations")
		number := rapid.IntRange(1, 6).Draw(t, "number")
		one, err := schedule.Plan(run, number, ask, tasks)
		if err != nil {
			t.Fatal(err)
		}
		other, err := schedule.Plan(run, number, ask, rapid.Permutation(tasks).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for k, a := range one.Trajectories {
			b := other.Trajectories[k]
			if a.InstanceID != b.InstanceID || a.Generation != b.Generation || a.Executors != b.Executors {
				t.Fatalf("trajectory %d differs: %+v, %+v", k, a, b)
			}
			seen[fmt.Sprint(a.InstanceID, a.Generation)] = true
		}
		if len(seen) != len(one.Trajectories) || ask.Tasks > 0 && len(seen) != ask.Tasks*ask.Generations {
			t.Fatalf("%d trajectories, %d of them distinct, of %d tasks", len(one.Trajectories), len(seen), ask.Tasks)
		}
	})
}

func TestASampleIsTheStudentAloneWithDrawsOfItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := tasksOf(40, 5)
		run := runOf(rapid.SampledFrom([]relabel.Recipe{relabel.SFT, relabel.DAgger, relabel.AggreVaTe}).Draw(t, "recipe"))
		run.Seed = rapid.Int64().Draw(t, "seed")
		number := rapid.IntRange(1, 6).Draw(t, "number")
		ask := relabel.NewIteration{Kind: relabel.Sample, StudentID: relabel.NewID(), Tasks: 12, Generations: rapid.IntRange(1, 4).Draw(t, "generations")}
		p, err := schedule.Plan(run, number, ask, tasks)
		if err != nil {
			t.Fatal(err)
		}
		if p.Iteration.Beta != nil || p.Iteration.Rho != nil || len(p.Trajectories) != 12*ask.Generations {
			t.Fatalf("%d trajectories of %+v", len(p.Trajectories), p.Iteration)
		}
		for _, tr := range p.Trajectories {
			if tr.Kind != relabel.Sample || tr.Kappa != nil || strings.Trim(string(tr.Executors), "s") != "" || tr.InstanceID >= "task-035" {
				t.Fatalf("%+v", tr)
			}
		}
		ask.Kind = relabel.Collect
		collected, err := schedule.Plan(run, number, ask, tasks)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(instances(p), instances(collected)) { // one chance in 10^9
			t.Fatal("it draws the tasks of the collect iteration of the same number")
		}
	})
}

func TestRunsOfOnPolicyRecipesDoNotCollect(t *testing.T) {
	tasks := tasksOf(2, 1)
	for _, recipe := range []relabel.Recipe{relabel.OPD, relabel.GRPO} {
		run := runOf(recipe)
		_, err := schedule.Plan(run, 1, collect(), tasks)
		wantField(t, err, "kind")
		for kind, heldOut := range map[relabel.IterationKind]bool{relabel.Sample: false, relabel.Evaluate: true} {
			p := plan(t, run, 1, relabel.NewIteration{Kind: kind, StudentID: relabel.NewID(), HeldOut: heldOut}, tasks)
			if len(p.Trajectories) != 1 || p.Trajectories[0].Executors != schedule.Prefix(100, 100) {
				t.Errorf("%s of %s: %+v", kind, recipe, p.Trajectories)
			}
		}
		run.Labels = relabel.LabelsDeferred
		wantField(t, schedule.ValidateRun(run), "labels")
		run = runOf(recipe)
		run.Beta = &relabel.PaperBeta
		wantField(t, schedule.ValidateRun(run), "beta")
		run = runOf(recipe)
		run.Rho = &relabel.PaperRho
		wantField(t, schedule.ValidateRun(run), "rho")
	}
	if relabel.OPD.DefaultKind() != relabel.Sample || relabel.DAgger.DefaultKind() != relabel.Collect {
		t.Error("the default kind does not fit the recipe")
	}
}

func TestASampleForTrainingNeverRollsOutHeldOutTasks(t *testing.T) {
	tasks, run := tasksOf(4, 2), runOf(relabel.DAgger)
	draw := relabel.Draw{TasksetID: run.TasksetID, Instances: []string{"task-003"}}
	for field, ask := range map[string]relabel.NewIteration{
		"instances": {Instances: []string{"task-003"}}, "again": {Again: &draw},
	} {
		ask.Kind, ask.StudentID = relabel.Sample, relabel.NewID()
		_, err := schedule.Plan(run, 1, ask, tasks)
		wantField(t, err, field)
	}
	beta := 0.5
	_, err := schedule.Plan(run, 1, relabel.NewIteration{Kind: relabel.Sample, StudentID: relabel.NewID(), Beta: &beta}, tasks)
	wantField(t, err, "beta")
}

// A sample on held-out tasks or a benchmark measures: it walks along no permutation, and the number of
// rollouts and the allowances of training do not apply to it.
func TestASampleMeasuresOnHeldOutTasksOrABenchmark(t *testing.T) {
	tasks, run := tasksOf(5, 3), runOf(relabel.OPD)
	run.Draw, run.Generations, run.TasksPerRound, run.AllowBenchmarks = relabel.DrawPermutation, 4, 2, []string{"b"}
	ask := relabel.NewIteration{Kind: relabel.Sample, StudentID: relabel.NewID(), HeldOut: true, Reserved: map[relabel.ID]string{tasks[4].ID: "b"}}
	p := plan(t, run, 1, ask.WithDefaults(run), tasks)
	if got := instances(p); !slices.Equal(got, []string{"task-002", "task-003", "task-004"}) || !p.Measures || p.Iteration.Walk != nil || p.Iteration.AllowBenchmarks != nil {
		t.Errorf("rolls out %v: %+v", got, p.Iteration)
	}
	ask.Tasks = 2
	evaluation := ask
	evaluation.Kind = relabel.Evaluate
	if got := instances(plan(t, run, 3, ask, tasks)); !slices.Equal(got, instances(plan(t, run, 1, evaluation, tasks))) {
		t.Errorf("samples %v, which are not the tasks of evaluations", got)
	}
	on := relabel.Benchmark{ID: relabel.NewID(), Limits: relabel.PaperLimits}
	ask = relabel.NewIteration{Kind: relabel.Sample, StudentID: ask.StudentID, OnBenchmark: &on}
	p = plan(t, run, 2, ask.WithDefaults(run), tasks[:4])
	if len(p.Trajectories) != 4 || !p.Measures || *p.Iteration.BenchmarkID != on.ID {
		t.Errorf("on a benchmark: %d trajectories, %+v", len(p.Trajectories), p.Iteration)
	}
	if p := plan(t, run, 3, relabel.NewIteration{Kind: relabel.Sample, StudentID: ask.StudentID}, tasks); p.Measures {
		t.Error("a sample of the run's tasks only measures")
	}
	run = runOf(relabel.DAgger)
	for field, ask := range map[string]relabel.NewIteration{"held_out": {HeldOut: true}, "benchmark": {OnBenchmark: &on}} {
		ask.Kind, ask.StudentID = relabel.Collect, relabel.NewID()
		_, err := schedule.Plan(run, 1, ask, tasks)
		wantField(t, err, field)
	}
}

func TestBadRequestsAreRefusedByField(t *testing.T) {
	nan, above := math.NaN(), 1.5
	for _, c := range []struct {
		field string
		edit  func(*relabel.NewIteration)
	}{
		{"kind", func(a *relabel.NewIteration) { a.Kind = "train" }},
		{"student_id", func(a *relabel.NewIteration) { a.StudentID = relabel.ID{} }},
		{"beta", func(a *relabel.NewIteration) { a.Beta = &nan }},
		{"beta", func(a *relabel.NewIteration) { a.Beta = &above }},
		{"generations", func(a *relabel.NewIteration) { a.Generations = -1 }},
		{"generations", func(a *relabel.NewIteration) { a.Generations = 1_000_000_000 }},
		{"generations", func(a *relabel.NewIteration) { a.Generations = 500_001 }}, // × 2 tasks
		{"tasks", func(a *relabel.NewIteration) { a.Tasks = 3 }},
		{"tasks", func(a *relabel.NewIteration) { a.Tasks = -1 }},
		{"tasks", func(a *relabel.NewIteration) { a.Tasks, a.Instances = 1, []string{"task-000"} }},
		{"instances", func(a *relabel.NewIteration) { a.Instances = []string{"nowhere"} }},
		{"instances", func(a *relabel.NewIteration) { a.Instances = []string{"task-000", "task-000"} }},
		{"held_out", func(a *relabel.NewIteration) { a.Kind, a.HeldOut = relabel.Evaluate, true }},
	} {
		ask := collect()
		c.edit(&ask)
		_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasksOf(2, 0))
		wantField(t, err, c.field)
	}
	_, err := schedule.Plan(runOf(relabel.DAgger), 0, collect(), tasksOf(2, 0))
	wantField(t, err, "number")
	half := 0.5
	ask := collect()
	ask.Beta = &half
	_, err = schedule.Plan(runOf(relabel.SFT), 1, ask, tasksOf(2, 0))
	wantField(t, err, "beta")
}

func TestRunOutsideItsBoundsIsRefusedByField(t *testing.T) {
	for _, c := range []struct {
		field string
		edit  func(*relabel.Run)
	}{
		{"recipe", func(r *relabel.Run) { r.Recipe = "rl" }},
		{"beta", func(r *relabel.Run) { r.Recipe = relabel.SFT }},
		{"rho", func(r *relabel.Run) { r.Rho = &relabel.RhoSchedule{Kind: schedule.Uniform, Max: 1} }},
		{"beta.kind", func(r *relabel.Run) { r.Beta = &relabel.BetaSchedule{Kind: "cosine"} }},
		{"limits.max_turns", func(r *relabel.Run) { r.Limits.MaxTurns = 0 }},
		{"limits.max_turns", func(r *relabel.Run) { r.Limits.MaxTurns = 1001 }},
		{"limits.max_context_tokens", func(r *relabel.Run) { r.Limits.MaxContextTokens = -1 }},
		{"limits.wall_clock_seconds", func(r *relabel.Run) { r.Limits.WallClockSeconds = 1 << 40 }},
		{"instances[1]", func(r *relabel.Run) { r.Instances = []string{"a", "a"} }},
	} {
		run := runOf(relabel.DAgger)
		c.edit(&run)
		wantField(t, schedule.ValidateRun(run), c.field)
	}
	for _, recipe := range []relabel.Recipe{relabel.SFT, relabel.DAgger, relabel.AggreVaTe} {
		if err := schedule.ValidateRun(runOf(recipe)); err != nil {
			t.Errorf("%s with its defaults: %v", recipe, err)
		}
	}
}

// TestTheDocumentedSchedulesAreThePapers compares the schedules in the help of run create.
func TestTheDocumentedSchedulesAreThePapers(t *testing.T) {
	for _, c := range []struct {
		name  string
		paper any
	}{{"Beta", relabel.PaperBeta}, {"Rho", relabel.PaperRho}} {
		text, err := json.Marshal(c.paper)
		field, _ := reflect.TypeFor[api.NewRun]().FieldByName(c.name)
		if help := field.Tag.Get("help"); err != nil || !strings.Contains(help, "Default: "+string(text)) {
			t.Errorf("%s is documented as %q, the default is %s", c.name, help, text)
		}
	}
}

func TestAnIterationHasAtMostMaxTrajectories(t *testing.T) {
	ask := collect()
	ask.Generations = schedule.MaxTrajectories / 100
	plan(t, runOf(relabel.SFT), 1, ask, tasksOf(100, 0))
	_, err := schedule.Plan(runOf(relabel.SFT), 1, ask, tasksOf(101, 0))
	wantField(t, err, "generations")
}

func TestHeldOutDrawIsDeterministicAndDistinct(t *testing.T) {
	ids := []string{"e", "b", "d", "a", "c"}
	first := schedule.DrawHeldOut(9, ids, 3)
	slices.Sort(ids)
	if again := schedule.DrawHeldOut(9, ids, 3); !slices.Equal(first, again) || len(slices.Compact(first)) != 3 {
		t.Errorf("draws %v, then %v", first, again)
	}
	if all := schedule.DrawHeldOut(9, ids, 10); !slices.Equal(all, ids) {
		t.Errorf("more than there are: %v", all)
	}
	drawn := map[string]int{}
	for seed := range int64(2000) {
		for _, id := range schedule.DrawHeldOut(seed, ids, 2) {
			drawn[id]++
		}
	}
	for id, n := range drawn {
		if n < 700 || n > 900 { // 800 is the mean, 22 the deviation
			t.Errorf("%s is held out in %d of 2000 draws of 2 in 5", id, n)
		}
	}
}

func TestAnEvaluationWithoutHeldOutOrNamedTasksIsRefused(t *testing.T) {
	ask := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID()}
	for _, ask.Tasks = range []int{0, 2} {
		_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasksOf(4, 2))
		wantField(t, err, "held_out")
	}
}

// Two checkpoints can be compared only on the same tasks.
func TestEvaluationsOfARunDrawTheSameTasks(t *testing.T) {
	tasks, run := tasksOf(20, 20), runOf(relabel.DAgger)
	ask := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true, Tasks: 5}
	first := instances(plan(t, run, 1, ask, tasks))
	for number := 2; number <= 5; number++ {
		if got := instances(plan(t, run, number, ask, tasks)); !slices.Equal(got, first) {
			t.Errorf("evaluation %d rolls out %v, not %v", number, got, first)
		}
	}
	ask.Tasks = 6
	for _, id := range first {
		if got := instances(plan(t, run, 6, ask, tasks)); !slices.Contains(got, id) {
			t.Errorf("6 tasks are %v, without %s of the 5", got, id)
		}
	}
}

func TestADrawIsRepeated(t *testing.T) {
	tasks, run := tasksOf(9, 6), runOf(relabel.DAgger)
	evaluate := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), HeldOut: true, Tasks: 3, Generations: 2}
	first := plan(t, run, 1, evaluate, tasks)
	draw := relabel.Draw{IterationID: first.Iteration.ID, TasksetID: run.TasksetID, Generations: 2, Instances: slices.Compact(instances(first))}
	another := runOf(relabel.SFT)
	another.Seed = 99
	again := relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), Again: &draw}
	second := plan(t, another, 4, again, tasks)
	if got, want := instances(second), instances(first); !slices.Equal(got, want) || *second.Iteration.AgainID != draw.IterationID || second.Iteration.Generations != 2 {
		t.Errorf("it rolls out %v, not %v: %+v", got, want, second.Iteration)
	}
	again.Generations = 1
	if got := instances(plan(t, another, 4, again, tasks)); !slices.Equal(got, draw.Instances) {
		t.Errorf("once each it rolls out %v", got)
	}
	refused := func(ask relabel.NewIteration, tasks []relabel.Task, says string) {
		t.Helper()
		_, err := schedule.Plan(another, 4, ask, tasks)
		wantField(t, err, "again")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	more := again
	more.Tasks = 2
	refused(more, tasks, "leave held_out, tasks and instances out")
	refused(again, tasks[:3], "3 of the 3 tasks of iteration")
	collected := again
	collected.Kind = relabel.Collect
	refused(collected, tasks, "is held out")
	other := draw
	other.TasksetID = relabel.NewID()
	refused(relabel.NewIteration{Kind: relabel.Evaluate, StudentID: relabel.NewID(), Again: &other}, tasks, "another task set")
}

func TestARefusalOfTheRunsOwnNumberOfTasksSaysWhoseItIs(t *testing.T) {
	run := runOf(relabel.DAgger)
	run.TasksPerRound, run.Preset = 512, "dagger-paper"
	for asked, want := range map[int]string{
		0: "is 512, the run's tasks_per_round with the preset dagger-paper; there are 5 tasks to draw from",
		6: "is 6; there are 5 tasks to draw from",
	} {
		ask := collect()
		ask.Tasks = asked
		_, err := schedule.Plan(run, 1, ask.WithDefaults(run), tasksOf(5, 0))
		wantField(t, err, "tasks")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", asked, err)
		}
	}
}
