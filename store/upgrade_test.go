package store_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// rowCounts counts the rows of every table of the schema that has any, but those that migrating
// writes.
func rowCounts(t testing.TB, s *store.Store) map[string]int {
	t.Helper()
	rows, _ := s.Pool().Query(context.Background(), `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
		AND relname NOT LIKE 'relabel_schema_%' AND relname NOT LIKE 'river_%' ORDER BY 1`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	counts := map[string]int{}
	for _, table := range tables {
		if n := value[int](t, s, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()); n > 0 {
			counts[table] = n
		}
	}
	return counts
}

// of returns the counts of the tables that were there before.
func of(before, after map[string]int) map[string]int {
	counts := map[string]int{}
	for table := range before {
		counts[table] = after[table]
	}
	return counts
}

// openDumped migrates the database of an earlier version, which loses no row.
func openDumped(t testing.TB) *store.Store {
	t.Helper()
	s := storetest.Open(t, storetest.Dumped(t, 3))
	before := rowCounts(t, s)
	if v := value[int](t, s, "SELECT version FROM relabel_schema_version"); v != 3 || before["trajectories"] != 21 || before["actions"] != 306 {
		t.Fatalf("the dump is of version %d and holds %v", v, before)
	}
	must(t, s.Migrate(context.Background()))
	after := rowCounts(t, s)
	for table, n := range before {
		if after[table] != n {
			t.Errorf("%s had %d rows and has %d", table, n, after[table])
		}
	}
	return s
}

func TestADatabaseOfAnEarlierVersionOpens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openDumped(t)
	runs, _, err := s.ListRuns(ctx, relabel.Page{})
	must(t, err)
	var resolved, unsubmitted, submitted int
	for _, run := range runs {
		figures, err := s.ListFigures(ctx, run.ID)
		must(t, err)
		for _, f := range figures {
			resolved += f.Progress.Resolved
			unsubmitted += f.Progress.PassedUnsubmitted
			submitted += f.Progress.Submitted
		}
		_, _, err = s.ListGrid(ctx, run.ID, "", relabel.Page{})
		must(t, err)
	}
	if resolved != 18 || unsubmitted != 2 || submitted != 19 { // 20 were called resolved, two of them not submitted
		t.Errorf("%d resolved, %d pass and were not submitted, %d submitted", resolved, unsubmitted, submitted)
	}
	told := "SELECT sum((webhook_trajectories(id)->>$1)::int) FROM iterations"
	if r, u := value[int](t, s, told, "resolved"), value[int](t, s, told, "passed_unsubmitted"); r != resolved || u != unsubmitted {
		t.Errorf("webhooks are told %d resolved, %d passed and unsubmitted", r, u)
	}
	over, err := s.Overview(ctx)
	must(t, err)
	if over.Total.Resolved != resolved || over.Total.PassedUnsubmitted != unsubmitted {
		t.Errorf("the overview sums %+v", over.Total)
	}
	page, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, relabel.Page{})
	must(t, err)
	for _, tr := range page.Items {
		readDumped(t, s, tr)
	}
	if len(page.Items) != 21 {
		t.Errorf("%d trajectories", len(page.Items))
	}
}

// readDumped reads all there is of a trajectory, whose verdict has no version.
func readDumped(t testing.TB, s *store.Store, tr relabel.Trajectory) {
	t.Helper()
	ctx := context.Background()
	if tr.Passed == nil || *tr.Resolved != (*tr.Passed && *tr.Submitted) || tr.Protections == nil || *tr.Protections != 0 {
		t.Errorf("%+v", tr)
	}
	if tr.VerdictReason != map[bool]relabel.VerdictReason{true: relabel.VerdictTestsPassed, false: relabel.VerdictTests}[*tr.Passed] {
		t.Errorf("passed %v for the reason %s", *tr.Passed, tr.VerdictReason)
	}
	v, err := s.FindVerdict(ctx, tr.ID)
	must(t, err)
	if v.Passed != *tr.Passed || v.Reason != tr.VerdictReason || v.Protections != 0 || len(v.Tests) == 0 || len(v.Output) == 0 {
		t.Errorf("%+v", v)
	}
	turns, err := s.ListTurns(ctx, tr.ID, 1, 1000)
	must(t, err)
	if len(turns) != tr.Turns {
		t.Errorf("%d turns, not %d", len(turns), tr.Turns)
	}
	_, err = s.FindPatch(ctx, tr.ID)
	must(t, err)
}

// Migration 22 renames stored values and columns without a loss, and 23 renews the statistics.
func TestStoredNamesAreRenamed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.Open(t, storetest.Dumped(t, 21))
	counts := func(status string) int {
		return value[int](t, s, "SELECT count(*) FROM actions WHERE status = $1", status)
	}
	received, pending, missing := counts("had"), counts("owed"), counts("missing")
	if received == 0 || pending == 0 || missing == 0 {
		t.Fatalf("the dump has %d, %d, %d actions", received, pending, missing)
	}
	before := rowCounts(t, s)
	must(t, s.Migrate(ctx))
	if after := rowCounts(t, s); !maps.Equal(of(before, after), before) {
		t.Errorf("rows %v, not %v", after, before)
	}
	if r, p, m := counts("received"), counts("pending"), counts("missing"); r != received || p != pending || m != missing {
		t.Errorf("%d received, %d pending, %d missing; not %d, %d, %d", r, p, m, received, pending, missing)
	}
	page, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, relabel.Page{})
	must(t, err)
	for _, tr := range page.Items {
		turns, err := s.ListTurns(ctx, tr.ID, 1, 1000)
		must(t, err)
		want := map[relabel.ActionStatus]int{}
		for _, turn := range turns {
			want[turn.Label.Status]++
		}
		if tr.LabelsReceived != want[relabel.Received] || tr.LabelsPending != want[relabel.Pending] {
			t.Errorf("%d received, %d pending of %v", tr.LabelsReceived, tr.LabelsPending, want)
		}
	}
	runs, _, err := s.ListRuns(ctx, relabel.Page{})
	must(t, err)
	if runs[0].Labels != relabel.LabelsInline {
		t.Errorf("labels %q", runs[0].Labels)
	}
	exports, _, err := s.ListExports(ctx, relabel.ExportFilter{}, relabel.Page{})
	must(t, err)
	if e := exports[0]; !slices.Equal(e.Selection.ExcludeFlags, []string{"leak", "*"}) || e.Excluded["label_missing"] != 1 {
		t.Errorf("export %+v", e)
	}
	for p, err := range s.ExportParts(ctx, exports[0].ID) {
		must(t, err)
		const text = `{"states":2,"excluded":{"label_missing":1},"text":"\"left_out\":"}`
		if string(p.Summary) != text || string(p.Excluded) != "{\"reason\":\"label_missing\"}\n" {
			t.Errorf("part %s, %s", p.Summary, p.Excluded)
		}
	}
	for column, want := range map[string]int{"received FROM relabelings": 1, "pending FROM relabelings": 1, "prefetch FROM workers": 3,
		"count(*) FROM label_batch_items WHERE status = 'received'":                                                   1,
		"count(*) FROM pg_stats WHERE schemaname = current_schema() AND (tablename, attname) = ('actions', 'status')": 1} {
		if got := value[int](t, s, "SELECT "+column); got != want {
			t.Errorf("%s: %d, not %d", column, got, want)
		}
	}
}

// An evaluation of an earlier version has a benchmark of what it drew, which a new evaluation of
// the same tasks shares.
func TestEarlierEvaluationsBecomeBenchmarks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openDumped(t)
	evaluations := 0
	runs, _, err := s.ListRuns(ctx, relabel.Page{})
	must(t, err)
	for _, run := range runs {
		its, err := s.ListIterations(ctx, run.ID)
		must(t, err)
		for _, it := range its {
			if it.Kind != relabel.Evaluate {
				if it.BenchmarkID != nil {
					t.Errorf("%s %d has a benchmark", it.Kind, it.Number)
				}
				continue
			}
			evaluations++
			b, err := s.FindBenchmark(ctx, *it.BenchmarkID)
			must(t, err)
			draw, err := s.FindDraw(ctx, it.ID)
			must(t, err)
			tasks, err := s.ListBenchmarkTasks(ctx, b.ID)
			must(t, err)
			if b.Name != "" || b.Limits != run.Limits || b.Tasks != len(tasks) || len(tasks) != len(draw.Instances) || tasks[0].InstanceID != draw.Instances[0] {
				t.Errorf("benchmark %+v of the draw %v", b, draw.Instances)
			}
			next := relabel.PlannedIteration{Iteration: it}
			next.Iteration.ID, next.Iteration.Number, next.Iteration.BenchmarkID = relabel.NewID(), 1000, nil
			for _, task := range tasks {
				next.Trajectories = append(next.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Executors: "s"})
			}
			must(t, s.CreateIteration(ctx, next))
			if again, _, err := s.FindIteration(ctx, next.Iteration.ID); err != nil || *again.BenchmarkID != b.ID {
				t.Errorf("an evaluation of the same tasks has the benchmark %v, not %v: %v", again.BenchmarkID, b.ID, err)
			}
		}
	}
	if evaluations == 0 {
		t.Error("the dump has no evaluation")
	}
}

// An evaluation whose trajectories are deleted has no benchmark. The deletion continues after the upgrade,
// also with the iteration that it repeats.
func TestAHalfDeletedEvaluationIsMigrated(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Dumped(t, 21))
	empty := `INSERT INTO iterations (id, run_id, number, kind, student_id, generations, trajectories, state, open, ended_at, again_id)
		SELECT gen_random_uuid(), run_id, $1, 'evaluate', student_id, 1, 1, 'done', 0, now(), (SELECT id FROM iterations WHERE number = 1000)
		FROM iterations ORDER BY id LIMIT 1`
	exec(t, s, empty, 1000)
	exec(t, s, empty, 1001)
	must(t, s.Migrate(context.Background()))
	exec(t, s, "DELETE FROM iterations WHERE number = 1000")
	exec(t, s, "DELETE FROM iterations WHERE number = 1001")
}
