package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

func TestAnExportLives(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Directory: "/exports/1",
		Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1, Aggregated: true, Submitted: true}}
	must(t, s.CreateExport(ctx, e))
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND queue = 'export-f' AND args->>'step' = 'cut' AND args->>'export_id' = $1", e.ID.String()); n != 1 {
		t.Errorf("%d jobs", n)
	}
	wantCode(t, s.FinishExport(ctx, e), relabel.CodeConflict) // not started
	must(t, s.RunExport(ctx, e.ID))
	e.Rows, e.Excluded = 2, map[string]int{"unsubmitted": 1}
	e.Files = []relabel.ExportFile{{Path: "a", SHA256: "x", Bytes: 1 << 40, Rows: 1}, {Path: "b", SHA256: "y", Bytes: 2, Rows: 1}}
	must(t, s.FinishExport(ctx, e))
	got, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if got.State != relabel.ExportDone || got.EndedAt == nil || got.CreatedAt.IsZero() {
		t.Errorf("export: %+v", got)
	}
	e.State, e.CreatedAt, e.EndedAt, e.Selection.EndReasons, e.Selection.ExcludeFlags, e.Form =
		got.State, got.CreatedAt, got.EndedAt, got.Selection.EndReasons, got.Selection.ExcludeFlags, got.Form
	if !reflect.DeepEqual(got, e) {
		t.Errorf("export %+v, not %+v", got, e)
	}
	wantCode(t, s.FailExport(ctx, e.ID, "no"), relabel.CodeConflict)
	wantCode(t, s.CancelExport(ctx, e.ID), relabel.CodeConflict)
	wantCode(t, s.CutExport(ctx, relabel.NewID(), 1), relabel.CodeNotFound)
	must(t, s.DeleteExport(ctx, e.ID))
	wantCode(t, s.DeleteExport(ctx, e.ID), relabel.CodeNotFound)
	e.ID = relabel.NewID()
	must(t, s.CreateExport(ctx, e))
	must(t, s.FailExport(ctx, e.ID, "the disk is full"))
	if got, err = s.FindExport(ctx, e.ID); err != nil || got.State != relabel.ExportFailed || got.Failure != "the disk is full" || len(got.Files) != 0 {
		t.Errorf("export: %+v, %v", got, err)
	}
	e.ID, e.Selection.RunID = relabel.NewID(), relabel.NewID()
	wantCode(t, s.CreateExport(ctx, e), relabel.CodeInvalid)
}

func TestAnExportIsCutIntoPartsThatEndIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	e := relabel.Export{ID: relabel.NewID(), Destination: "s3://b", Selection: relabel.ExportSelection{RunID: d.Run.ID, Aggregated: true}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1)) // a trajectory a part
	must(t, s.CutExport(ctx, e.ID, 1)) // after a crash
	jobs := func(step string) int {
		return value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND queue = 'export' AND args->>'step' = $1", step)
	}
	got, err := s.FindExport(ctx, e.ID)
	must(t, err)
	if got.State != relabel.ExportRunning || got.Parts < 2 || jobs("build") != got.Parts {
		t.Fatalf("%+v, %d jobs", got, jobs("build"))
	}
	seen, left := 0, [2][]byte{nil, []byte("left\n")}
	for n := range got.Parts {
		part, err := s.FindExportPart(ctx, e.ID, n)
		must(t, err)
		for tr, err := range s.ExportTrajectories(ctx, e.Selection, part) {
			must(t, err)
			if tr.Trajectory.ID != part.Trajectories[0].ID {
				t.Errorf("part %d yields %s", n, tr.Trajectory.ID)
			}
			seen++
		}
		must(t, s.SaveExportFile(ctx, e.ID, n, relabel.ExportFile{Path: fmt.Sprint(n), SHA256: "x", Rows: 1}))
		wantCode(t, s.FinishExport(ctx, e), relabel.CodeConflict)
		for range 2 { // again, after an unclear commit
			must(t, s.FinishExportPart(ctx, e.ID, n, []byte("{}"), left[n%2]))
		}
	}
	if seen != got.Parts || jobs("finish") != 1 {
		t.Errorf("%d trajectories in %d parts, %d jobs for the end", seen, got.Parts, jobs("finish"))
	}
	parts := 0
	for p, err := range s.ExportParts(ctx, e.ID) {
		must(t, err)
		if p.Number != parts || len(p.Files) != 1 || string(p.Excluded) != string(left[parts%2]) {
			t.Errorf("part %+v", p)
		}
		parts++
	}
	must(t, s.FinishExport(ctx, e))
	if got, err = s.FindExport(ctx, e.ID); err != nil || parts != got.Parts || got.PartsDone != parts || len(got.Files) != parts {
		t.Errorf("%d parts, %+v, %v", parts, got, err)
	}
}

func TestAnExportThatWaitsSaysSoUntilItIsFurther(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	e := relabel.Export{ID: relabel.NewID(), Destination: "s3://b", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	waits := func(reason string, wantNews bool) {
		t.Helper()
		if news, err := s.ExportWaits(ctx, e.ID, reason); err != nil || news != wantNews {
			t.Errorf("%s: news %v, %v", reason, news, err)
		}
	}
	is := func(why string) *time.Time {
		t.Helper()
		got, err := s.FindExport(ctx, e.ID)
		if err != nil || got.Waiting != why || (got.WaitingSince == nil) != (why == "") {
			t.Errorf("it waits for %q since %v, %v; not for %q", got.Waiting, got.WaitingSince, err, why)
		}
		return got.WaitingSince
	}
	waits("s3://b: connection refused", true)
	since := is("s3://b: connection refused")
	waits("s3://b: connection refused", false)
	waits("s3://b: it answered 503", true)
	if again := is("s3://b: it answered 503"); !again.Equal(*since) {
		t.Errorf("it waits since %v, not %v", again, since)
	}
	must(t, s.CutExport(ctx, e.ID, 1<<40))
	is("")
	waits("x", true)
	must(t, s.SaveExportFile(ctx, e.ID, 0, relabel.ExportFile{Path: "messages/00000.parquet", SHA256: "x"}))
	is("")
	waits("x", true)
	must(t, s.FinishExportPart(ctx, e.ID, 0, []byte("{}"), nil))
	is("")
	waits("x", true)
	must(t, s.FinishExport(ctx, e))
	is("")
	waits("late", false)
	is("")
}

func TestWhatComesOfAnOpenTrajectoryWhileItsExportIsBuiltIsNotInIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 3, Unfinished: true}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1<<40))
	part, err := s.FindExportPart(ctx, e.ID, 0)
	must(t, err)
	stored, err := s.FindExport(ctx, e.ID)
	must(t, err)
	open := slices.IndexFunc(part.Trajectories, func(p relabel.PartTrajectory) bool { return !p.State.Terminal() })
	if open < 0 || part.Trajectories[open].Turns != 1 || !stored.Selection.Unfinished {
		t.Fatalf("%+v of %+v", part.Trajectories, stored.Selection)
	}
	read := func() (said string) {
		for tr, err := range s.ExportTrajectories(ctx, stored.Selection, part) {
			must(t, err)
			said += fmt.Sprintf("%s %d; ", tr.Trajectory.State, len(tr.Turns))
		}
		return said
	}
	before := read()
	id := part.Trajectories[open].ID
	expire(t, s, id)
	c := storetest.Claim(t, s, id, "w2")
	must(t, s.AdoptTurns(ctx, c.Fence, 1))
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 2, nil)))
	if after := read(); after != before || !strings.Contains(before, "running 1") || !strings.Contains(before, "done 1") {
		t.Errorf("it reads %q, then %q", before, after)
	}
}

func TestATrajectoryThatChangedSinceTheCutIsNotExported(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1<<40))
	part, err := s.FindExportPart(ctx, e.ID, 0)
	must(t, err)
	was := part.Trajectories[0]
	for what, change := range map[string]func(p *relabel.PartTrajectory){
		"a label": func(p *relabel.PartTrajectory) { p.Labels++ },
		"a turn":  func(p *relabel.PartTrajectory) { p.Turns-- },
		"a trail": func(p *relabel.PartTrajectory) { p.Trail++ },
		"a state": func(p *relabel.PartTrajectory) { p.State = relabel.Failed }, // and retried since
	} {
		part.Trajectories[0] = was
		change(&part.Trajectories[0])
		for _, err = range s.ExportTrajectories(ctx, e.Selection, part) {
			if err != nil {
				break
			}
		}
		if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "has changed since the export began") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestACancelledExportEndsOnceAndIsCleared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	e := relabel.Export{ID: relabel.NewID(), FolderID: "f", Selection: relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}}
	must(t, s.CreateExport(ctx, e))
	must(t, s.CutExport(ctx, e.ID, 1<<40))
	wantCode(t, s.DeleteExport(ctx, e.ID), relabel.CodeConflict)
	must(t, s.CancelExport(ctx, e.ID))
	must(t, s.CancelExport(ctx, e.ID))
	wantCode(t, s.FinishExportPart(ctx, e.ID, 0, []byte("{}"), nil), relabel.CodeConflict)
	wantCode(t, s.FailExport(ctx, e.ID, "late"), relabel.CodeConflict)
	if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND queue = 'export-f' AND args->>'step' = 'clear'"); n != 1 {
		t.Errorf("%d jobs clear it", n)
	}
	must(t, s.DeleteExport(ctx, e.ID))
}

// rounds seeds a run with two done collect iterations, one that is not done, an evaluation and
// a sample; task 0 is held out.
func rounds(t *testing.T, s *store.Store) storetest.Seeded {
	t.Helper()
	ctx := context.Background()
	d := storetest.Seed(t, s, 3)
	exec(t, s, "ALTER TABLE tasks DISABLE TRIGGER USER")
	exec(t, s, "UPDATE tasks SET held_out = true WHERE id = $1", d.Tasks[0].ID)
	for _, tr := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 3, true)
	}
	for i, kind := range []relabel.IterationKind{relabel.Collect, relabel.Evaluate, relabel.Sample, relabel.Collect} {
		p := relabel.PlannedIteration{Iteration: d.Iteration}
		p.Iteration.ID, p.Iteration.Kind, p.Iteration.Number = relabel.NewID(), kind, []int{2, 1, 9, 3}[i]
		for g := range 2 {
			p.Trajectories = append(p.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[1].ID, Generation: g, Executors: "sss"})
		}
		must(t, s.CreateIteration(ctx, p))
		for g, tr := range p.Trajectories {
			c := storetest.Claim(t, s, tr.ID, "w")
			switch {
			case p.Iteration.Number == 3 && g == 0:
				must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
			case kind == relabel.Collect:
				expire(t, s, tr.ID)
				c = storetest.Claim(t, s, tr.ID, "w") // the first attempt is never exported
				storetest.Finish(t, s, c, 1, false)
			default:
				must(t, s.Fail(ctx, c.Fence, relabel.FailEndpoint, ""))
			}
		}
	}
	return d
}

func TestAnExportReadsWhatItsSelectionSays(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := rounds(t, s)
	for _, c := range []struct {
		sel  relabel.ExportSelection
		want string
	}{
		{relabel.ExportSelection{Iteration: 1}, "1/1/0 1/2/0 "},
		{relabel.ExportSelection{}, "2/1/0 2/1/1 "},
		{relabel.ExportSelection{Aggregated: true}, "1/1/0 1/2/0 2/1/0 2/1/1 "},
		{relabel.ExportSelection{Iteration: 1, Aggregated: true}, "1/1/0 1/2/0 "},
	} {
		c.sel.RunID = d.Run.ID
		got := ""
		for e, err := range s.Exported(context.Background(), c.sel) {
			must(t, err)
			for i, task := range d.Tasks {
				if task.ID == e.Task.ID {
					got += fmt.Sprintf("%d/%d/%d ", e.Iteration.Number, i, e.Trajectory.Generation)
				}
			}
			if e.Teacher.ID != d.Teacher.ID || e.Student.ID != d.Student.ID || len(e.Turns) != e.Trajectory.Turns || e.Turns[0].Label == nil {
				t.Errorf("read %+v", e)
			}
		}
		if got != c.want {
			t.Errorf("%+v read %q, not %q", c.sel, got, c.want)
		}
	}
	for e, err := range s.Exported(context.Background(), relabel.ExportSelection{RunID: d.Run.ID, Iteration: 9}) {
		wantCode(t, err, relabel.CodeNotFound)
		if e.Turns != nil {
			t.Errorf("read %+v", e)
		}
	}
}

func TestAnExportReadsNoIterationThatIsStillRunning(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	read := func(sel relabel.ExportSelection) (n int, last error) {
		sel.RunID = d.Run.ID
		for _, err := range s.Exported(ctx, sel) {
			if last = err; err == nil {
				n++
			}
		}
		return n, last
	}
	for _, sel := range []relabel.ExportSelection{{Iteration: 3}, {Iteration: 3, Aggregated: true}} {
		n, err := read(sel)
		wantCode(t, err, relabel.CodeConflict)
		if n > 0 || !strings.Contains(err.Error(), "iteration 3 is still running") {
			t.Errorf("%+v: %d trajectories, %v", sel, n, err)
		}
	}
	for _, sel := range []relabel.ExportSelection{{Iteration: 3, Unfinished: true}, {Unfinished: true}} {
		if n, err := read(sel); n != 2 || err != nil {
			t.Errorf("unfinished %+v: %d trajectories, %v", sel, n, err)
		}
	}
	if n, err := read(relabel.ExportSelection{Unfinished: true, Aggregated: true}); n != 6 || err != nil {
		t.Errorf("unfinished, aggregated: %d trajectories, %v", n, err)
	}
	exec(t, s, "ALTER TABLE iterations DISABLE TRIGGER iterations_step") // as another that began earlier
	exec(t, s, "UPDATE iterations SET state = 'running', open = 1, ended_at = NULL WHERE run_id = $1 AND number = 1 AND kind = 'collect'", d.Run.ID)
	_, err := read(relabel.ExportSelection{Aggregated: true})
	wantCode(t, err, relabel.CodeConflict) // the latest done one is over, an earlier one is not
	if n, err := read(relabel.ExportSelection{}); n != 2 || err != nil {
		t.Errorf("the latest done one alone: %d trajectories, %v", n, err)
	}
}

func TestAnExportReadsFailedAndCancelledTrajectoriesToo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 4)
	claims := make([]relabel.Claim, 3)
	for i := range claims {
		claims[i] = storetest.Claim(t, s, d.Trajectories[i].ID, "w")
	}
	storetest.Finish(t, s, claims[0], 2, true)
	for _, c := range claims[1:] {
		must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	}
	must(t, s.Fail(ctx, claims[1].Fence, relabel.FailEndpoint, "gone"))
	_, err := s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	got := ""
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID, Iteration: 1}) {
		must(t, err)
		got += fmt.Sprintf("%s:%d%s ", e.Trajectory.State, len(e.Turns), e.Trajectory.Failure)
	}
	if want := "done:2 failed:1endpoint cancelled:1 cancelled:0 "; got != want {
		t.Errorf("read %q, not %q", got, want)
	}
}

func TestAnExportReadsOneSnapshot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := rounds(t, s)
	n := 0
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID, Aggregated: true}) {
		must(t, err)
		if n++; n == 1 {
			deleteRun(t, s, d.Run.ID)
		}
		if len(e.Turns) == 0 {
			t.Errorf("trajectory %d lost its turns", n)
		}
	}
	if n != 4 {
		t.Errorf("read %d trajectories, not 4", n)
	}
	for range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID}) {
		break // a reader that stops leaves no transaction behind
	}
	if open := value[int](t, s, "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND query LIKE '%' || $1 || '%'", d.Run.ID.String()); open != 0 {
		t.Errorf("%d transactions are open", open)
	}
}

func TestDeletingARunLeavesNothingOfIt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.RecordCall(ctx, relabel.Call{ID: relabel.NewID(), PolicyID: d.Teacher.ID, TrajectoryID: &c.TrajectoryID, Attempt: 1, T: 1, Purpose: relabel.PurposeAct}))
	storetest.Finish(t, s, c, 3, true)
	e := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f"}
	must(t, s.CreateExport(ctx, e))
	must(t, s.RunExport(ctx, e.ID))
	e.Files = []relabel.ExportFile{{Path: "a"}}
	must(t, s.FinishExport(ctx, e))
	must(t, s.CreateReview(ctx, relabel.Review{TrajectoryID: c.TrajectoryID, Flag: "odd"}))
	other := storetest.Seed(t, s, 1)
	running := storetest.Claim(t, s, d.Trajectories[1].ID, "w")

	deleteRun(t, s, d.Run.ID)
	for table, left := range map[string]int{"runs": 1, "iterations": 1, "trajectories": 1, "attempts": 0, "turns": 0, "actions": 0, "observations": 0,
		"calls": 0, "verdicts": 0, "exports": 0, "export_files": 0, "events": 2, "reviews": 0, "river_job": 1} {
		if n := value[int](t, s, "SELECT count(*) FROM "+table); n != left {
			t.Errorf("%s has %d rows, not %d", table, n, left)
		}
	}
	wantCode(t, renew(s, running.Fence), relabel.CodeLeaseLost)
	wantCode(t, s.BeginDeletion(ctx, d.Run.ID), relabel.CodeNotFound)
	if _, err := s.FindRun(ctx, other.Run.ID); err != nil {
		t.Errorf("the other run is gone: %v", err)
	}
}

func TestCallsAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	id := d.Trajectories[0].ID
	cost := int64(12)
	call := relabel.Call{BaseURL: "http://b/v1", QueueMillis: 7, Hedged: true, CostMicros: &cost, ID: relabel.NewID(), PolicyID: d.Teacher.ID, TrajectoryID: &id, Attempt: 1, T: 2, Purpose: relabel.PurposeLabel,
		Millis: 1500, Tries: 3, Status: 503, FinishReason: "stop", Usage: &relabel.Usage{PromptTokens: 3, CompletionTokens: 2, CachedTokens: 1},
		Model: "m", Error: "gone", ErrorBody: []byte("<html>\x00\xff"), Sampling: &relabel.Sampling{Temperature: 0.7, TopP: 0.9, TopK: new(-1), Stop: []string{"x"}, Logprobs: new(true)}}
	must(t, s.RecordCall(ctx, call))
	must(t, s.RecordCall(ctx, call)) // the same call
	must(t, s.RecordCall(ctx, relabel.Call{PolicyID: d.Teacher.ID, Purpose: relabel.PurposeProbe, Error: "\x00\xff"}))
	calls, err := s.ListCalls(ctx, id)
	must(t, err)
	if len(calls) != 1 || calls[0].StartedAt.IsZero() {
		t.Fatalf("calls: %+v", calls)
	}
	call.StartedAt = calls[0].StartedAt
	if !reflect.DeepEqual(calls[0], call) {
		t.Errorf("call %+v, not %+v", calls[0], call)
	}
	_, err = s.ListCalls(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
}

func TestAModelThatChangesBehindAnEndpointIsKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	p := storetest.Policy(t, s, "teacher")
	for i, c := range []struct {
		base, model, fingerprint string
		changed                  bool
	}{
		{"http://a/v1", "m-1", "", false},
		{"http://a/v1", "m-1", "", false}, // as another worker process tells it
		{"http://b/v1", "m-2", "", false}, // another replica
		{"http://a/v1", "m-1", "fp\x00", true},
		{"http://a/v1", "m-2", "", true},
		{"http://a/v1", "m-2", "", false},
	} {
		changed, err := s.RecordModel(ctx, relabel.ModelSeen{PolicyID: p.ID, BaseURL: c.base, Model: c.model, Fingerprint: c.fingerprint})
		must(t, err)
		if changed != c.changed {
			t.Errorf("%d: changed %v", i, changed)
		}
	}
	seen, err := s.ListModels(ctx, p.ID)
	must(t, err)
	if len(seen) != 4 || seen[0].Model != "m-1" || seen[0].FirstAt.IsZero() || seen[2].Model != "m-2" || seen[3].BaseURL != "http://b/v1" {
		t.Errorf("%+v", seen)
	}
	for i := range mostModels + 10 {
		_, err := s.RecordModel(ctx, relabel.ModelSeen{PolicyID: p.ID, BaseURL: "http://c/v1", Fingerprint: fmt.Sprint(i)})
		must(t, err)
	}
	if seen, err = s.ListModels(ctx, p.ID); err != nil || len(seen) > mostModels+5 {
		t.Errorf("%d rows, %v", len(seen), err)
	}
}

// mostModels is what a server that makes up fingerprints may leave.
const mostModels = 100
