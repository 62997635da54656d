package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// benchmarkOf stores a named benchmark of tasks.
func benchmarkOf(t *testing.T, s *store.Store, name string, tasks ...relabel.Task) relabel.Benchmark {
	t.Helper()
	ctx := context.Background()
	b := relabel.Benchmark{ID: relabel.NewID(), Name: name, TasksetID: tasks[0].TasksetID, Source: relabel.BenchmarkSource{Kind: relabel.FromSeed, Seed: new(int64(4))},
		Excluded: []relabel.ExcludedTask{{InstanceID: "b", Reason: "no image"}, {InstanceID: "a", Reason: "no tests"}}, Limits: relabel.PaperLimits}
	b.Limits.MaxTurns = 7
	var ids []relabel.ID
	for _, task := range tasks {
		ids = append(ids, task.ID)
	}
	must(t, s.CreateBenchmark(ctx, b, ids))
	found, err := s.FindBenchmarkByName(ctx, name)
	must(t, err)
	return found
}

// evaluationOf plans an evaluation of tasks.
func evaluationOf(d storetest.Seeded, number int, tasks ...relabel.Task) relabel.PlannedIteration {
	p := relabel.PlannedIteration{Iteration: relabel.Iteration{ID: relabel.NewID(), RunID: d.Run.ID, Number: number, Kind: relabel.Evaluate, StudentID: d.Student.ID}}
	for _, task := range tasks {
		p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Executors: "ssss"})
	}
	return p
}

func TestABenchmarkIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 3)
	b := benchmarkOf(t, s, "verified", d.Tasks[2], d.Tasks[0])
	if b.Tasks != 2 || *b.Source.Seed != 4 || b.Limits.MaxTurns != 7 || len(b.Excluded) != 2 || b.Excluded[0] != (relabel.ExcludedTask{InstanceID: "a", Reason: "no tests"}) {
		t.Errorf("%+v", b)
	}
	tasks, err := s.ListBenchmarkTasks(ctx, b.ID)
	must(t, err)
	if len(tasks) != 2 || tasks[0].ID != d.Tasks[0].ID || tasks[1].InstanceID != d.Tasks[2].InstanceID || tasks[0].TasksetID != d.Taskset.ID {
		t.Errorf("%+v", tasks)
	}
	b.ID = relabel.NewID()
	wantCode(t, s.CreateBenchmark(ctx, b, []relabel.ID{d.Tasks[1].ID}), relabel.CodeConflict)
	must(t, s.CreateIteration(ctx, evaluationOf(d, 1, d.Tasks...)))
	for unnamed, want := range map[bool]int{false: 1, true: 2} {
		list, _, err := s.ListBenchmarks(ctx, relabel.BenchmarkFilter{Unnamed: unnamed}, relabel.Page{})
		must(t, err)
		if len(list) != want {
			t.Errorf("%d benchmarks with unnamed %v", len(list), unnamed)
		}
	}
}

func TestABenchmarkIsDeletedWhileNothingIsOnIt(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 2)
	b := benchmarkOf(t, s, "verified", d.Tasks[0])
	p := evaluationOf(d, 1, d.Tasks[0])
	p.Iteration.BenchmarkID = &b.ID
	must(t, s.CreateIteration(ctx, p))
	err := s.DeleteBenchmark(ctx, b.ID)
	wantCode(t, err, relabel.CodeConflict)
	if want := "it has 1 evaluations or samples, the newest is evaluate 1 of the run " + d.Run.Name; !strings.Contains(err.Error(), want) {
		t.Errorf("%v lacks %q", err, want)
	}
	free := benchmarkOf(t, s, "free", d.Tasks[1])
	must(t, s.DeleteBenchmark(ctx, free.ID))
	wantCode(t, s.DeleteBenchmark(ctx, free.ID), relabel.CodeNotFound)
	reserved, err := s.ListReserved(ctx, d.Taskset.ID, nil)
	must(t, err)
	if len(reserved) != 1 || reserved[d.Tasks[0].ID] != "verified" {
		t.Errorf("reserved %v", reserved)
	}
}

func TestEvaluationsOfTheSameTasksShareABenchmark(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 3)
	named := benchmarkOf(t, s, "verified", d.Tasks[0], d.Tasks[1])
	plans := []relabel.PlannedIteration{evaluationOf(d, 1, d.Tasks[0], d.Tasks[1]), evaluationOf(d, 2, d.Tasks[1], d.Tasks[0]), evaluationOf(d, 3, d.Tasks[1]),
		evaluationOf(d, 4, d.Tasks[0], d.Tasks[1])}
	plans[3].Iteration.BenchmarkID = &named.ID
	var of []relabel.ID
	for _, p := range plans {
		must(t, s.CreateIteration(ctx, p))
		it, _, err := s.FindIteration(ctx, p.Iteration.ID)
		must(t, err)
		of = append(of, *it.BenchmarkID)
	}
	if of[0] != of[1] || of[0] == of[2] || of[3] != named.ID || of[0] == named.ID {
		t.Errorf("benchmarks %v", of)
	}
	b, err := s.FindBenchmark(ctx, of[0])
	must(t, err)
	if b.Name != "" || b.Tasks != 2 || b.Limits != d.Run.Limits || b.TasksetID != d.Taskset.ID || b.Source.Kind != relabel.FromEvaluation {
		t.Errorf("%+v", b)
	}
	draw, err := s.FindDraw(ctx, plans[1].Iteration.ID)
	must(t, err)
	if *draw.BenchmarkID != b.ID || len(draw.Instances) != 2 {
		t.Errorf("%+v", draw)
	}
	newest, next, err := s.ListEvaluations(ctx, b.ID, relabel.Page{Limit: 1})
	must(t, err)
	older, end, err := s.ListEvaluations(ctx, b.ID, relabel.Page{Limit: 1, After: next})
	must(t, err)
	if len(newest) != 1 || newest[0].Number != 2 || len(older) != 1 || older[0].Number != 1 || end != "" {
		t.Errorf("evaluations of it: %+v, then %+v", newest, older)
	}
}

func TestARolloutOfAnEvaluationHasTheLimitsOfItsBenchmark(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 2)
	b := benchmarkOf(t, s, "verified", d.Tasks[0])
	p := evaluationOf(d, 1, d.Tasks[0])
	p.Iteration.BenchmarkID = &b.ID
	must(t, s.CreateIteration(ctx, p))
	for trajectory, want := range map[relabel.ID]int{p.Trajectories[0].ID: 7, d.Trajectories[0].ID: d.Run.Limits.MaxTurns} {
		if got := storetest.Claim(t, s, trajectory, "w").Run.Limits.MaxTurns; got != want {
			t.Errorf("at most %d turns, not %d", got, want)
		}
	}
}

func TestAnEvaluationIsGradedAgainWithTheLimitsOfItsBenchmark(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	b := benchmarkOf(t, s, "verified", d.Tasks[0])
	p := evaluationOf(d, 1, d.Tasks[0])
	p.Iteration.BenchmarkID = &b.ID
	must(t, s.CreateIteration(ctx, p))
	storetest.Finish(t, s, storetest.Claim(t, s, p.Trajectories[0].ID, "w"), 1, true)
	_, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, All: true})
	must(t, err)
	c, err := s.ClaimRegrading(ctx, "g", storetest.Lease)
	must(t, err)
	if c.Limits != b.Limits || c.Limits == d.Run.Limits {
		t.Errorf("limits %+v, not %+v", c.Limits, b.Limits)
	}
}

// The other task set has the same instance under another repository, the same commit under
// another instance id, and a task without a commit.
func TestNamedBenchmarksReserveTasksOfAllTaskSets(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	set := relabel.Taskset{ID: relabel.NewID(), Name: "verified", Digest: "00"}
	var held []relabel.Task
	for i, commit := range []string{"aaa", "bbb", ""} {
		held = append(held, taskOf(set.ID, [3]string{fmt.Sprintf("verified-%d", i), "Owner/Repo", commit}))
	}
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList(held)))
	other := relabel.Taskset{ID: relabel.NewID(), Name: "other", Digest: "01"}
	var open []relabel.Task
	for _, of := range [][3]string{{"verified-0", "else/where", "zzz"}, {"train-1", "owner/repo", "bbb"}, {"train-2", "Owner/Repo", ""}, {"train-3", "else/where", "bbb"}} {
		open = append(open, taskOf(other.ID, of))
	}
	must(t, s.CreateTaskset(ctx, other, relabel.TaskList(open)))
	benchmarkOf(t, s, "verified", held...)
	reserved, err := s.ListReserved(ctx, other.ID, nil)
	must(t, err)
	if want := map[relabel.ID]string{open[0].ID: "verified", open[1].ID: "verified"}; !maps.Equal(reserved, want) {
		t.Errorf("reserved %v, not %v", reserved, want)
	}
	if reserved, err = s.ListReserved(ctx, other.ID, []string{"verified"}); err != nil || len(reserved) != 0 {
		t.Errorf("allowed, but reserved %v, %v", reserved, err)
	}
}

// All tasks of the benchmark's own set are held out; another set has one of them, in another spelling, for training.
func TestReservedTasksOfAllSetsAreCounted(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	tasks := map[string][]relabel.Task{}
	for set, of := range map[string][][3]string{"held": {{"a__b-1", "a/b", "0123456"}, {"a__b-2", "a/b", "abcdef0"}}, "open": {{"A__B-1", "a/b", "0123456"}, {"a__b-3", "a/b", "fedcba9"}}} {
		taskset := relabel.Taskset{ID: relabel.NewID(), Name: set, Digest: set}
		for _, names := range of {
			task := taskOf(taskset.ID, names)
			task.HeldOut = set == "held"
			tasks[set] = append(tasks[set], task)
		}
		must(t, s.CreateTaskset(ctx, taskset, relabel.TaskList(tasks[set])))
	}
	for set, want := range map[string]int{"held": 1, "open": 2} {
		b := benchmarkOf(t, s, set, tasks[set]...)
		if n, err := s.CountReserved(ctx, b.ID); err != nil || n.Trainable != want {
			t.Errorf("%s reserves %d trainable tasks, not %d: %v", set, n.Trainable, want, err)
		}
	}
}

// taskOf is a task of a set, with an instance id, a repository and a base commit.
func taskOf(set relabel.ID, of [3]string) relabel.Task {
	return relabel.Task{ID: relabel.NewID(), TasksetID: set, InstanceID: of[0], Repo: of[1], BaseCommit: of[2], FailToPass: []string{}, PassToPass: []string{}}
}

func TestBenchmarksReserveTasksInOtherSpellings(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	const full = "0123456789abcdef0123456789abcdef01234567"
	set := relabel.Taskset{ID: relabel.NewID(), Name: "held", Digest: "00"}
	held := taskOf(set.ID, [3]string{"pypi__w3lib-2.1.1", "pypi/w3lib", full})
	must(t, s.CreateTaskset(ctx, set, relabel.TaskList([]relabel.Task{held})))
	benchmarkOf(t, s, "held", held)
	other := relabel.Taskset{ID: relabel.NewID(), Name: "other", Digest: "01"}
	var tasks []relabel.Task
	want := map[relabel.ID]string{}
	add := func(reserved bool, instance, repo, commit string) {
		tasks = append(tasks, taskOf(other.ID, [3]string{instance, repo, commit}))
		if reserved {
			want[tasks[len(tasks)-1].ID] = "held"
		}
	}
	add(true, "PyPI__w3lib-2.1.1", "", "")
	add(false, "pypi__w3lib-2.1.10", "", "")
	for i, repo := range []string{
		"https://github.com/pypi/w3lib.git", "pypi/w3lib.git", " pypi/w3lib\n", "PyPI/w3lib/", "git@github.com:pypi/w3lib.git", "github.com/pypi/w3lib",
		"ssh://git@github.com:22/pypi/w3lib", "git+https://u:p@gitlab.example/pypi/w3lib/", "git://github.com//pypi/w3lib.git/",
	} {
		add(true, fmt.Sprintf("repo-%d", i), repo, full)
	}
	for i, repo := range []string{"pypi/w3lib2", "other/w3lib", "w3lib", "pypi/w3lib.gi", "", "https://github.com/other/pypi/w3lib"} {
		add(false, fmt.Sprintf("other-repo-%d", i), repo, full)
	}
	for i, commit := range []string{strings.ToUpper(full), full[:12], full[:7]} {
		add(true, fmt.Sprintf("commit-%d", i), "pypi/w3lib", commit)
	}
	for i, commit := range []string{full[:6], full[:12] + "0", "1" + full[1:], ""} {
		add(false, fmt.Sprintf("other-commit-%d", i), "pypi/w3lib", commit)
	}
	must(t, s.CreateTaskset(ctx, other, relabel.TaskList(tasks)))
	reserved, err := s.ListReserved(ctx, other.ID, nil)
	must(t, err)
	for _, task := range tasks {
		if reserved[task.ID] != want[task.ID] {
			t.Errorf("%q of %q at %q is reserved by %q, not %q", task.InstanceID, task.Repo, task.BaseCommit, reserved[task.ID], want[task.ID])
		}
	}
}

// A benchmark that appears between the draw and CreateIteration stops it; one that appears later is counted.
func TestAnIterationMeetsANewBenchmark(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 3)
	collection := evaluationOf(d, 2, d.Tasks[0], d.Tasks[1])
	collection.Iteration.Kind = relabel.Collect
	must(t, s.CreateIteration(ctx, collection))
	count := func(want int) {
		t.Helper()
		if n, err := s.CountReservedSince(ctx, collection.Iteration); err != nil || n != want {
			t.Errorf("%d are reserved since, not %d: %v", n, want, err)
		}
	}
	count(0)
	b := benchmarkOf(t, s, "new", d.Tasks[1], d.Tasks[2])
	count(1)
	next := evaluationOf(d, 3, d.Tasks[0], d.Tasks[1])
	next.Iteration.Kind = relabel.Collect
	if err := s.CreateIteration(ctx, next); relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "new") {
		t.Errorf("created in spite of the benchmark: %v", err)
	}
	next.Iteration.AllowBenchmarks = []string{"new"}
	must(t, s.CreateIteration(ctx, next))
	measured := evaluationOf(d, 1, d.Tasks[1])
	measured.Iteration.BenchmarkID = &b.ID
	must(t, s.CreateIteration(ctx, measured))
	if n, err := s.CountReservedSince(ctx, measured.Iteration); err != nil || n != 0 {
		t.Errorf("%d tasks of an evaluation are reserved, %v", n, err)
	}
}

func TestAnExportKnowsWhichTasksBenchmarksReserve(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 3)
	for _, tr := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 1, true)
	}
	must(t, s.CreateIteration(ctx, evaluationOf(d, 1, d.Tasks[2]))) // reserves nothing
	benchmarkOf(t, s, "verified", d.Tasks[1])
	for allow, want := range map[string][]string{"": {"", "verified", ""}, "verified": {"", "", ""}} {
		sel := relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}
		if allow != "" {
			sel.AllowBenchmarks = []string{allow}
		}
		var got []string
		for e, err := range s.Exported(ctx, sel) {
			must(t, err)
			got = append(got, e.Benchmark)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reserved by %q, not %q", got, want)
		}
	}
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}, Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, AllowBenchmarks: []string{"verified"}}}
	must(t, s.CreateExport(ctx, e))
	stored, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if !slices.Equal(stored.Selection.AllowBenchmarks, e.Selection.AllowBenchmarks) {
		t.Errorf("%+v", stored.Selection)
	}
}
