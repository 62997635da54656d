package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// patchOf is a patch that adds n lines from line start on: patches share the lines that they have in common.
func patchOf(path string, start, n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "+line_%d = value_%d(argument_%d, other_%d)\n", start+i, start+i, start+i, start+i)
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -0,0 +1,%d @@\n%s", path, path, n, lines.String())
}

// setOf stores a taskset of tasks with instance ids, repositories and patches.
func setOf(t *testing.T, s *store.Store, name string, of map[string][2]string) (relabel.Taskset, map[string]relabel.Task) {
	t.Helper()
	set := relabel.Taskset{ID: relabel.NewID(), Name: name, Digest: name}
	byName := map[string]relabel.Task{}
	var tasks []relabel.Task
	for _, instance := range slices.Sorted(maps.Keys(of)) {
		task := taskOf(set.ID, [3]string{instance, of[instance][0], ""})
		task.Patch = of[instance][1]
		tasks = append(tasks, task)
		byName[instance] = task
	}
	must(t, s.CreateTaskset(context.Background(), set, relabel.TaskList(tasks)))
	set, err := s.FindTaskset(context.Background(), set.ID)
	must(t, err)
	return set, byName
}

// reservedIn are the instance ids of a set's reserved tasks, each with the name that reserves it.
func reservedIn(t *testing.T, s *store.Store, set relabel.Taskset, allowed ...string) map[string]string {
	t.Helper()
	reserved, err := s.ListReserved(context.Background(), set.ID, allowed)
	must(t, err)
	tasks, err := s.ListTaskNames(context.Background(), set.ID, 0)
	must(t, err)
	names := map[string]string{}
	for _, task := range tasks {
		if name := reserved[task.ID]; name != "" {
			names[task.InstanceID] = name
		}
	}
	return names
}

func TestBenchmarksReserveTasksWithTheirPatches(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	train := map[string][2]string{"same": {"x/y", patchOf("b.py", 0, 10)}, "part": {"x/y", patchOf("c.py", 2, 30)}, "little": {"x/y", patchOf("d.py", 8, 30)},
		"none": {"x/y", patchOf("e.py", 100, 10)}, "empty": {"x/y", ""}}
	before, _ := setOf(t, s, "before", train)
	_, bench := setOf(t, s, "bench", map[string][2]string{"b-1": {"a/b", patchOf("a.py", 0, 10)}, "b-2": {"a/b", ""}})
	b := benchmarkOf(t, s, "verified", bench["b-1"], bench["b-2"])
	after, _ := setOf(t, s, "after", train)
	want := map[string]string{"same": "verified", "part": "verified"}
	for _, set := range []relabel.Taskset{before, after} {
		if got := reservedIn(t, s, set); !maps.Equal(got, want) {
			t.Errorf("%s: reserved %v, not %v", set.Name, got, want)
		}
		if got := reservedIn(t, s, set, "verified"); len(got) != 0 {
			t.Errorf("%s: allowed, but reserved %v", set.Name, got)
		}
	}
	n, err := s.CountReserved(ctx, b.ID)
	if must(t, err); n.Trainable != 6 || n.Similar != 4 { // with its own two tasks
		t.Errorf("%+v", n)
	}
	// A revision stores new rows.
	tasks, _, err := s.ListTasks(ctx, after.ID, 0, relabel.Page{})
	must(t, err)
	for i := range tasks {
		tasks[i].HintsText = "changed"
	}
	_, err = s.ReviseTasks(ctx, after.ID, relabel.TasksExcluded, tasks)
	must(t, err)
	if got := reservedIn(t, s, after); !maps.Equal(got, want) {
		t.Errorf("revision 2: reserved %v", got)
	}
	must(t, s.DeleteBenchmark(ctx, b.ID))
	if got := reservedIn(t, s, before); len(got) != 0 {
		t.Errorf("deleted, but reserved %v", got)
	}
}

func TestExclusionListsReserveInstancesAndRepositories(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	tasks := map[string][2]string{"Django__django-1": {"django/django", ""}, "other": {"https://github.com/Owner/Repo.git", ""}, "open": {"else/where", ""}, "bare": {"", ""}}
	before, _ := setOf(t, s, "before", tasks)
	list := relabel.Exclusion{ID: relabel.NewID(), Name: "pro"}
	must(t, s.CreateExclusion(ctx, list, []string{"django__django-1", "owner/repo", "/"}))
	after, _ := setOf(t, s, "after", tasks)
	for _, set := range []relabel.Taskset{before, after} {
		if got := reservedIn(t, s, set); !maps.Equal(got, map[string]string{"Django__django-1": "pro", "other": "pro"}) {
			t.Errorf("%s: reserved %v", set.Name, got)
		}
		if got := reservedIn(t, s, set, "pro"); len(got) != 0 {
			t.Errorf("%s: allowed, but reserved %v", set.Name, got)
		}
	}
	if n, err := s.CountExcluded(ctx, list.ID); err != nil || n.Trainable != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	found, err := s.FindExclusionByName(ctx, "pro")
	if must(t, err); found.ID != list.ID || found.Entries != 3 {
		t.Errorf("%+v", found)
	}
	if entries, err := s.ListExclusionEntries(ctx, list.ID); err != nil || !slices.Equal(entries, []string{"/", "django__django-1", "owner/repo"}) {
		t.Errorf("%q, %v", entries, err)
	}
	// Benchmarks and lists share their names.
	wantCode(t, s.CreateExclusion(ctx, relabel.Exclusion{Name: "pro"}, []string{"a"}), relabel.CodeConflict)
	wantCode(t, s.CreateBenchmark(ctx, relabel.Benchmark{Name: "pro", TasksetID: before.ID, Limits: relabel.PaperLimits}, []relabel.ID{relabel.NewID()}), relabel.CodeConflict)
	must(t, s.DeleteExclusion(ctx, list.ID))
	if got := reservedIn(t, s, before); len(got) != 0 {
		t.Errorf("deleted, but reserved %v", got)
	}
	wantCode(t, s.DeleteExclusion(ctx, list.ID), relabel.CodeNotFound)
}

func TestEachBenchmarkAndListThatReservesATaskIsNamed(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	patch := patchOf("a.py", 0, 10)
	_, train := setOf(t, s, "train", map[string][2]string{"A-1": {"x/y", patch}, "own": {"own/repo", ""}, "open": {"else/where", ""}})
	_, bench := setOf(t, s, "bench", map[string][2]string{"a-1": {"x/y", patch}, "own-2": {"z/z", ""}})
	benchmarkOf(t, s, "verified", bench["a-1"]) // by the instance id and by the patch
	benchmarkOf(t, s, "lite", bench["a-1"])
	must(t, s.CreateExclusion(ctx, relabel.Exclusion{ID: relabel.NewID(), Name: "pro"}, []string{"a-1", "own/repo"}))
	var ids []relabel.ID
	for _, task := range train {
		ids = append(ids, task.ID)
	}
	want := map[relabel.ID][]string{train["A-1"].ID: {"lite", "pro", "verified"}, train["own"].ID: {"pro"}}
	names, err := s.ListReservedBy(ctx, ids)
	if must(t, err); !maps.EqualFunc(names, want, slices.Equal) {
		t.Errorf("reserved by %v, not %v", names, want)
	}
	names, err = s.ListReservedBy(ctx, []relabel.ID{train["open"].ID})
	if must(t, err); len(names) != 0 {
		t.Errorf("an open task is reserved by %v", names)
	}
}

func TestOverlapsOfATaskSetAreReported(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	set, _ := setOf(t, s, "train", map[string][2]string{"a-1": {"a/a", patchOf("a.py", 0, 10)}, "a-2": {"a/a", patchOf("a.py", 0, 12)}, "b-1": {"b/b", patchOf("b.py", 50, 10)}, "c-1": {"c/c", ""}})
	other, bench := setOf(t, s, "bench", map[string][2]string{"A-1": {"x/x", patchOf("x.py", 5, 10)}, "z": {"z/z", patchOf("z.py", 50, 10)}})
	b := benchmarkOf(t, s, "verified", bench["A-1"], bench["z"])
	report, err := s.FindOverlaps(ctx, relabel.OverlapQuery{TasksetID: set.ID, Tasksets: []relabel.Taskset{set, other}, Benchmarks: []relabel.Benchmark{b}, Entries: []string{"C/c.git"}, Threshold: 0.4})
	must(t, err)
	var got []string
	for _, o := range report.Overlaps {
		got = append(got, fmt.Sprintf("%s %s %s %s %.1f", o.InstanceID, o.Kind, o.With, o.Other, o.Share))
	}
	want := []string{"a-1 instance bench A-1 0.4", "a-1 instance verified A-1 0.4", "c-1 repository entries C/c.git 0.0", "a-1 patch train a-2 1.0", "b-1 patch bench z 1.0", "b-1 patch verified z 1.0", "a-2 patch bench A-1 0.6", "a-2 patch verified A-1 0.6"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if report.Tasks != 4 || report.Total != 8 || !maps.Equal(report.Affected, map[relabel.OverlapKind]int{relabel.SameInstance: 1, relabel.SameRepository: 1, relabel.SimilarPatch: 3}) || len(report.With) != 4 {
		t.Errorf("%+v", report)
	}
}

func TestBenchmarksOfAnEarlierVersionAreMeasuredWhenTheDatabaseIsMigrated(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	train, _ := setOf(t, s, "train", map[string][2]string{"same": {"x/y", patchOf("b.py", 0, 10)}, "none": {"x/y", patchOf("e.py", 100, 10)}})
	_, bench := setOf(t, s, "bench", map[string][2]string{"b-1": {"a/b", patchOf("a.py", 0, 10)}})
	benchmarkOf(t, s, "verified", bench["b-1"])
	exec(t, s, "DELETE FROM task_overlaps") // as migration 049 leaves them
	exec(t, s, "DELETE FROM measured_benchmarks")
	if got := reservedIn(t, s, train); len(got) != 0 {
		t.Fatalf("without the overlaps it reserves %v", got)
	}
	want := map[string]string{"same": "verified"}
	for range 2 { // the second time changes nothing
		must(t, s.Migrate(t.Context()))
		if got := reservedIn(t, s, train); !maps.Equal(got, want) {
			t.Errorf("reserved %v, not %v", got, want)
		}
	}
	exec(t, s, "UPDATE measured_benchmarks SET measure = 999") // another measure
	exec(t, s, "UPDATE task_overlaps SET share = 0.1")
	must(t, s.Migrate(t.Context()))
	if share := value[float64](t, s, "SELECT max(share) FROM task_overlaps"); share != 1 {
		t.Errorf("the share is %v", share)
	}
}

func TestOneOfSeveralProcessesMeasuresABenchmark(t *testing.T) {
	t.Parallel()
	url := storetest.Schema(t)
	s := storetest.Open(t, url)
	must(t, s.Migrate(t.Context()))
	_, bench := setOf(t, s, "bench", map[string][2]string{"b-1": {"a/b", patchOf("a.py", 0, 10)}})
	benchmarkOf(t, s, "verified", bench["b-1"])
	exec(t, s, "DELETE FROM measured_benchmarks")
	exec(t, s, "CREATE TABLE measurements (benchmark_id uuid)")
	exec(t, s, `CREATE FUNCTION count_measurement() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN INSERT INTO measurements VALUES (NEW.benchmark_id); RETURN NEW; END $$`)
	exec(t, s, "CREATE TRIGGER count_measurement AFTER INSERT ON measured_benchmarks FOR EACH ROW EXECUTE FUNCTION count_measurement()")
	var g errgroup.Group
	for range 4 {
		process := storetest.Open(t, url)
		g.Go(func() error { return process.Migrate(t.Context()) })
	}
	must(t, g.Wait())
	if n := value[int](t, s, "SELECT count(*) FROM measurements"); n != 1 {
		t.Errorf("it was measured %d times", n)
	}
}
