package store_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// miscounted counts the trajectories whose ribbon, tokens or tool calls are not those of
// their turns.
const miscounted = `SELECT count(*) FROM trajectories tr, LATERAL (
		SELECT coalesce(string_agg(CASE WHEN tu.executor = 'teacher' THEN 'T' WHEN tu.agrees THEN 'a' WHEN NOT tu.agrees THEN 'd' ELSE 's' END, '' ORDER BY tu.t), '') AS ribbon,
			min(tu.t) FILTER (WHERE NOT tu.agrees) AS first_differs
		FROM turns tu WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.trail) r, LATERAL (
		SELECT coalesce(sum(greatest(a.prompt_tokens, 0) + greatest(a.completion_tokens, 0)), 0) AS tokens
		FROM actions a WHERE a.trajectory_id = tr.id AND a.attempt = tr.trail AND a.sample < 2) a, LATERAL (
		SELECT count(*) AS calls, count(*) FILTER (WHERE o.failed) AS failures, count(*) FILTER (WHERE tu.executor = 'student') AS student_calls,
			count(*) FILTER (WHERE o.failed AND tu.executor = 'student') AS student_failures
		FROM observations o JOIN turns tu USING (trajectory_id, attempt, t)
		WHERE o.trajectory_id = tr.id AND o.attempt = tr.trail AND o.tool <> '') o
	WHERE (tr.ribbon, tr.final_differs, tr.tokens, tr.tool_calls, tr.tool_failures, tr.student_tool_calls, tr.student_tool_failures)
		IS DISTINCT FROM (r.ribbon, CASE WHEN tr.ended_at IS NOT NULL THEN r.first_differs END, a.tokens, o.calls, o.failures, o.student_calls, o.student_failures)`

// TestATrajectoryKeepsTheFiguresOfItsTurns commits turns with figures, settles labels out
// of order, and loses the trail; the storm and the one-label property recount too.
func TestATrajectoryKeepsTheFiguresOfItsTurns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	same, other := storetest.Received(c.Teacher.ID, "action 5"), storetest.Received(c.Teacher.ID, "another action")
	same.Usage, other.Usage = &relabel.Usage{PromptTokens: 40, CompletionTokens: 2}, &relabel.Usage{PromptTokens: 50, CompletionTokens: 3}
	for k, label := range []*relabel.Action{nil, nil, &other, nil, nil} {
		turn := storetest.Turn(c, k+1, label)
		turn.Action.Usage = &relabel.Usage{PromptTokens: 100 * k, CompletionTokens: 10}
		turn.Observations = []relabel.Observation{{Tool: "execute_bash"}, {Tool: "no_tool", Failed: true}, {Content: "no call", Failed: true}}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	expect := func(ribbon string, differs *int, tokens int) {
		t.Helper()
		list, err := s.ListTrajectories(ctx, relabel.TrajectoryFilter{}, relabel.Newest, relabel.Page{})
		must(t, err)
		got := list.Items[0]
		if got.Ribbon != relabel.Ribbon(ribbon) || got.Tokens != tokens || (got.FirstDiffers == nil) != (differs == nil) || differs != nil && *got.FirstDiffers != *differs {
			t.Errorf("%s, first %v, %d tokens; not %s, %v, %d", got.Ribbon, got.FirstDiffers, got.Tokens, ribbon, differs, tokens)
		}
		if n := value[int](t, s, miscounted); n != 0 {
			t.Error("the figures are not those of the turns")
		}
	}
	three, one := 3, 1
	expect("sTdTs", &three, 1103)
	must(t, s.SettleLabel(ctx, c.Fence, 5, same))
	expect("sTdTa", &three, 1145)
	must(t, s.SettleLabel(ctx, c.Fence, 1, other))
	expect("dTdTa", &one, 1198)
	if got := value[[]int](t, s, "SELECT ARRAY[tool_calls, tool_failures, student_tool_calls, student_tool_failures] FROM trajectories"); got[0] != 10 || got[1] != 5 || got[2] != 6 || got[3] != 3 {
		t.Errorf("tool calls %v", got)
	}
	must(t, s.Release(ctx, c.Fence))
	c = storetest.Claim(t, s, c.TrajectoryID, "w")
	must(t, s.Diverge(ctx, c.Fence, 1, "turn 1: another tree"))
	expect("", nil, 0)
}

// TestARunInFiguresIsItsTurnsCounted holds ListFigures to what turns and trajectories say
// themselves.
func TestARunInFiguresIsItsTurnsCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.SeedCrowd(t, s, 400, 6)
	used(t, s, c.First, c.Teacher.ID, 100, 10, 2_000_000)
	list := agreesWithTheTurns(t, s, c.Run.ID)
	if len(list) != 10 || list[0].Iteration.Number != 1 || list[0].Spent.Tokens != 110 || list[0].Spent.Cost != 2 || list[1].Spent.Calls != 0 {
		t.Fatalf("%d iterations, the first %+v", len(list), list[0])
	}
	if beta := list[3].RealisedBeta(); beta == nil || *beta < 0.45 || *beta > 0.75 { // β4 = 0.6 of some 240 turns
		t.Errorf("realised β: %v", *beta)
	}
	if none, err := s.ListFigures(ctx, relabel.NewID()); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

// agreesWithTheTurns lists a run's figures and counts them again.
func agreesWithTheTurns(t *testing.T, s *store.Store, run relabel.ID) []relabel.Figures {
	t.Helper()
	ctx := context.Background()
	list, err := s.ListFigures(ctx, run)
	must(t, err)
	for _, f := range list {
		id := f.Iteration.ID
		var turns, teacher, compared, agreed int
		for i, at := range f.ByTurn {
			var want relabel.TurnFigures
			must(t, s.Pool().QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE executor = 'teacher'), count(agrees), count(*) FILTER (WHERE agrees)
				FROM turns JOIN trajectories tr ON tr.id = trajectory_id WHERE iteration_id = $1 AND t = $2`, id, i+1).Scan(&want.Turns, &want.TeacherTurns, &want.Compared, &want.Agreed))
			if at != want {
				t.Errorf("turn %d of iteration %d: %+v, not %+v", i+1, f.Iteration.Number, at, want)
			}
			turns, teacher, compared, agreed = turns+at.Turns, teacher+at.TeacherTurns, compared+at.Compared, agreed+at.Agreed
		}
		if f.Progress.Turns != turns || f.Progress.TeacherTurns != teacher || f.Compared != compared || f.Agreed != agreed || turns == 0 {
			t.Errorf("iteration %d: %+v", f.Iteration.Number, f)
		}
		for what, got := range map[string]int{"verdict = 'passed'": f.Verdicts[relabel.VerdictPassed], "verdict = 'error'": f.Verdicts[relabel.VerdictError],
			"end_reason = 'max_turns'": f.EndReasons[relabel.EndMaxTurns], "failure = 'environment'": f.Failures[relabel.FailEnvironment], "resolved": f.Progress.Resolved,
			"verdict_reason = 'empty_patch'": f.Unresolved[relabel.VerdictEmptyPatch], "NOT resolved AND end_reason = 'max_turns'": f.UnresolvedEnds[relabel.EndMaxTurns],
			"NOT resolved AND submitted": f.UnresolvedSubmitted, "passed AND NOT submitted": f.Progress.PassedUnsubmitted, "passed AND submitted": f.Progress.Resolved,
			"verdict = 'passed' AND NOT submitted": f.Unresolved[relabel.VerdictTestsPassed], "labels_missing > 0": f.LackLabels} {
			if want := value[int](t, s, "SELECT count(*) FROM trajectories WHERE iteration_id = $1 AND "+what, id); got != want {
				t.Errorf("iteration %d has %d where %s, not %d", f.Iteration.Number, got, what, want)
			}
		}
	}
	return list
}

// TestFiguresOfAnIterationThatEndedAreReadOnce spends, retries and cancels between: what is
// remembered is what would be read.
func TestFiguresOfAnIterationThatEndedAreReadOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.SeedCrowd(t, s, 400, 2)
	first := agreesWithTheTurns(t, s, c.Run.ID)
	of := func(list []relabel.Figures) relabel.Figures {
		return list[slices.IndexFunc(list, func(f relabel.Figures) bool { return f.Iteration.ID == c.Middle })]
	}
	used(t, s, c.First, c.Teacher.ID, 100, 10, 2_000_000)
	if again := agreesWithTheTurns(t, s, c.Run.ID); again[0].Spent.Tokens != 110 || !reflect.DeepEqual(of(again), of(first)) {
		t.Errorf("%+v, not %+v", again, first)
	}
	exec(t, s, "UPDATE trajectories SET compared = compared + 1 WHERE iteration_id = $1", c.Middle)
	list, err := s.ListFigures(ctx, c.Run.ID)
	must(t, err)
	if of(list).Compared != of(first).Compared {
		t.Error("an iteration that has ended was read again")
	}
	exec(t, s, "UPDATE trajectories SET compared = compared - 1 WHERE iteration_id = $1", c.Middle)
	retried, err := s.RetryFailed(ctx, c.Middle, nil)
	must(t, err)
	if f := of(agreesWithTheTurns(t, s, c.Run.ID)); retried == 0 || f.Progress.Trajectories[relabel.Queued] != retried || len(f.Failures) != 0 {
		t.Errorf("%d retried: %+v", retried, f.Progress)
	}
	_, err = s.CancelIteration(ctx, c.Middle)
	must(t, err)
	for range 2 {
		if f := of(agreesWithTheTurns(t, s, c.Run.ID)); f.Progress.Trajectories[relabel.Cancelled] != retried+of(first).Progress.Trajectories[relabel.Cancelled] {
			t.Errorf("%d cancelled: %+v", retried, f.Progress)
		}
	}
}

func TestTasksAreCountedApartFromThoseHeldOutOrReserved(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	exec(t, s, `INSERT INTO tasks SELECT gen_random_uuid(), taskset_id, 'held', repo, base_commit, image, workdir, problem_statement, hints_text,
		patch, test_patch, test_cmd, log_parser, fail_to_pass, pass_to_pass, true FROM tasks LIMIT 1`)
	benchmarkOf(t, s, "verified", d.Tasks[0])
	count := func(run relabel.Run, allowed ...string) relabel.TaskCounts {
		n, err := s.CountTasks(t.Context(), run, allowed)
		must(t, err)
		return n
	}
	if n := count(d.Run); n != (relabel.TaskCounts{Open: 1, Reserved: 1, HeldOut: 1}) {
		t.Errorf("%+v", n)
	}
	if n := count(d.Run, "verified"); n != (relabel.TaskCounts{Open: 2, HeldOut: 1}) {
		t.Errorf("with the benchmark allowed: %+v", n)
	}
	d.Run.Instances = []string{d.Tasks[1].InstanceID}
	if n := count(d.Run); n != (relabel.TaskCounts{Open: 1, HeldOut: 1}) {
		t.Errorf("of one instance: %+v", n)
	}
}
