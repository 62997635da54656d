package shard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/shard/shardtest"
)

func newTestExporter(t testing.TB, s Store) *Exporter {
	return NewExporter(Config{Tokenizers: shardtest.Tokenizers(t), Store: s, Root: t.TempDir(), FolderID: "here", Log: zerolog.Nop(), Version: "test"})
}

// run does the steps of an export as the queue would.
func run(ctx context.Context, s *fixedStore, x *Exporter) error {
	id := s.export.ID
	if err := x.Step(ctx, relabel.ExportJob{ExportID: id, Step: relabel.CutExport}); err != nil {
		return err
	}
	for part := range s.cut {
		if err := x.Step(ctx, relabel.ExportJob{ExportID: id, Step: relabel.BuildPart, Part: part}); err != nil {
			return err
		}
	}
	return x.Step(ctx, relabel.ExportJob{ExportID: id, Step: relabel.FinishExport})
}

// export runs the store's export and returns it finished.
func export(t testing.TB, s *fixedStore, x *Exporter) relabel.Export {
	t.Helper()
	if err := run(context.Background(), s, x); err != nil {
		t.Fatal(err)
	}
	if s.export.State != relabel.ExportDone {
		t.Fatalf("the export is %s", s.export.State)
	}
	return s.export
}

func readManifest(t testing.TB, dir string) (m relabel.Manifest) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// folder maps each file below dir to its content.
func filesBelow(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheSameSnapshotGivesTheSameBytes(t *testing.T) {
	list := []relabel.ExportTrajectory{someTrajectory(1, 0, 7), someTrajectory(1, 1, 3), someTrajectory(2, 0, 5)}
	var trees []map[string]string
	for _, name := range []string{"one", "two"} {
		s := newFixedStore(list...)
		s.newExport(name, relabel.ExportSelection{Aggregated: true, Submitted: true})
		trees = append(trees, filesBelow(t, export(t, s, newTestExporter(t, s)).Directory))
	}
	if len(trees[0]) != 4 || !maps.Equal(trees[0], trees[1]) {
		t.Errorf("files %v and %v differ", slices.Sorted(maps.Keys(trees[0])), slices.Sorted(maps.Keys(trees[1])))
	}
}

func TestEveryLabelledStateIsARowOrCountedByItsReason(t *testing.T) {
	tr := someTrajectory(1, 0, 12)
	spoil := func(turn int, change func(*relabel.Action)) {
		label := *tr.Turns[turn-1].Label
		change(&label)
		tr.Turns[turn-1].Label = &label
	}
	spoil(2, func(a *relabel.Action) { *a = relabel.Action{Status: relabel.Missing, Reason: "endpoint: timeout"} })
	spoil(3, func(a *relabel.Action) { a.Parse, a.FinishReason = relabel.CutByLength, "length" })
	spoil(4, func(a *relabel.Action) { a.Message.ToolCalls[0].Arguments = "{\xff}" })
	spoil(5, func(a *relabel.Action) { a.Parse, a.Refusal = relabel.Refused, "I may not" })
	spoil(6, func(a *relabel.Action) { a.Parse = relabel.MalformedCall })
	spoil(7, func(a *relabel.Action) { a.Parse = relabel.UnknownTool })
	spoil(8, func(a *relabel.Action) { a.Parse = relabel.NoCall })
	spoil(9, func(a *relabel.Action) { a.Status = relabel.Pending })
	spoil(10, func(a *relabel.Action) { a.Parse = "" })
	tr.Turns[10].Label = nil
	reserved := someTrajectory(1, 10, 8)
	reserved.Benchmark = "verified"
	heldOut, evaluation, sample, underWay, loose, unresolved := someTrajectory(1, 2, 3), someTrajectory(1, 4, 4), someTrajectory(1, 5, 7), someTrajectory(1, 6, 5), someTrajectory(1, 8, 6), someTrajectory(1, 9, 2)
	heldOut.Task.HeldOut = true
	evaluation.Trajectory.Kind = relabel.Evaluate
	sample.Trajectory.Kind = relabel.Sample
	measured := someTrajectory(1, 11, 2)
	measured.Trajectory.Kind, measured.Iteration.BenchmarkID = relabel.Sample, new(relabel.NewID())
	underWay.Trajectory.State = relabel.Verifying
	loose.Trajectory.Submitted = nil
	s := newFixedStore(tr, heldOut, reserved, evaluation, sample, measured, underWay, loose, unresolved)
	s.newExport("x", relabel.ExportSelection{Submitted: true, Resolved: true})
	e := export(t, s, newTestExporter(t, s))

	want := map[string]int{"label_missing": 3, "label_cut_by_length": 1, "label_not_text": 1, "label_refused": 1, "label_malformed_arguments": 1,
		"label_unknown_tool": 1, "label_no_call": 1, "label_unparsed": 1, "held_out": 3, "benchmark": 2, "benchmark:verified": 8, "evaluation": 4, "sample": 7, "not_done": 5, "not_submitted": 6, "not_resolved": 2}
	if !maps.Equal(e.Excluded, want) || e.Rows != 2 {
		t.Errorf("%d rows, left out %v, want 2, %v", e.Rows, e.Excluded, want)
	}
	if got := readManifest(t, e.Directory); !maps.Equal(got.Excluded, want) || got.States != 2 || got.Files[0].Rows != 2 {
		t.Errorf("the manifest says %+v", got)
	}
	delete(want, "benchmark:verified") // lines have the name as their detail
	want["benchmark"] = 10
	if got := excludedLines(t, e.Directory); !maps.Equal(got, want) {
		t.Errorf("%s says %v, want %v", excludedName, got, want)
	}
}

func TestAStateThatIsTooLargeForARowIsExcludedWithLaterStates(t *testing.T) {
	tr := someTrajectory(1, 0, 4)
	tr.Turns[1].Observations[0].Content = strings.Repeat("x", 12<<20)
	s := newFixedStore(tr)
	e := export(t, s, newTestExporter(t, s))
	if want := map[string]int{"state_too_large": 2}; !maps.Equal(e.Excluded, want) || e.Rows != 2 {
		t.Errorf("%d rows, left out %v", e.Rows, e.Excluded)
	}
}

func TestStatesOfFailedAndCancelledTrajectoriesAreCountedApart(t *testing.T) {
	done, failed, early, cancelled := someTrajectory(1, 0, 2), someTrajectory(1, 2, 5), someTrajectory(1, 4, 0), someTrajectory(1, 6, 3)
	failed.Trajectory.State, failed.Trajectory.Failure = relabel.Failed, relabel.FailEndpoint
	early.Trajectory.State, early.Trajectory.Failure = relabel.Failed, relabel.FailImageMissing
	cancelled.Trajectory.State = relabel.Cancelled
	s := newFixedStore(done, failed, early, cancelled)
	e := export(t, s, newTestExporter(t, s))
	want := map[string]int{"trajectory_failed": 5, "trajectory_cancelled": 3}
	if !maps.Equal(e.Excluded, want) || e.Rows != 2 || !maps.Equal(readManifest(t, e.Directory).Excluded, want) {
		t.Errorf("%d rows, left out %v, want 2, %v", e.Rows, e.Excluded, want)
	}
	files := filesBelow(t, e.Directory)
	for _, line := range []string{
		`{"reason":"trajectory_failed","trajectory":"` + failed.Trajectory.ID.String() + `","instance_id":"task-2","turn":null,"states":5,"detail":"endpoint"}`,
		`{"reason":"trajectory_failed","trajectory":"` + early.Trajectory.ID.String() + `","instance_id":"task-4","turn":null,"states":0,"detail":"image_missing"}`,
		`{"reason":"trajectory_cancelled","trajectory":"` + cancelled.Trajectory.ID.String() + `","instance_id":"task-6","turn":null,"states":3}`,
	} {
		if !strings.Contains(files[excludedName], line+"\n") {
			t.Errorf("%s lacks %s:\n%s", excludedName, line, files[excludedName])
		}
	}
	if said := "3 × trajectory_cancelled, 5 × trajectory_failed"; !strings.Contains(files[readmeName], said) {
		t.Errorf("the README does not say %q", said)
	}
}

// excludedLines counts the states that excluded.jsonl names, by reason.
func excludedLines(t *testing.T, dir string) map[string]int {
	f, err := os.Open(filepath.Join(dir, excludedName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line excludedLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		got[string(line.Reason)] += line.States
		if line.Turn != nil && *line.Turn == 2 && line.Detail != "endpoint: timeout" {
			t.Errorf("turn 2's label is missing because of %q", line.Detail)
		}
	}
	return got
}

func TestTheManifestHasTheFieldsOfTheFormat(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 2), someTrajectory(2, 0, 2))
	s.list[1].Iteration.Beta = nil
	e := export(t, s, newTestExporter(t, s))
	raw, err := os.ReadFile(filepath.Join(e.Directory, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(`beta capacity deduplication_ratio excluded files fill groups iterations label_rules loss_mask max_labels model_check normalisation prompt_check provenance recipe rho run
		schema_version secrets selection served special_in_tools special_text states student teacher template tokenizer too_long trajectories verdict_protections views`)
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, names) {
		t.Errorf("fields %v, want %v", got, names)
	}
	m := readManifest(t, e.Directory)
	if !slices.Equal(m.Iterations, []int{1, 2}) || *m.Beta[0] != 1.0 || m.Beta[1] != nil || m.Student != fixedID("student 2").String() ||
		m.Teacher != fixedID("teacher").String() || len(m.Selection.Students) != 2 || m.Recipe != relabel.DAgger || m.Run != s.run.ID.String() {
		t.Errorf("provenance is %s", raw)
	}
	var listed []string
	for _, f := range e.Files {
		listed = append(listed, f.Path)
	}
	if want := []string{excludedName, readmeName, manifestName, "messages/00000.parquet"}; !slices.Equal(listed, want) {
		t.Errorf("files %v, want %v", listed, want)
	}
}

// seen is what stands in the exports' folder, without the scratch of tries.
func seen(t *testing.T, x *Exporter) []string {
	t.Helper()
	entries, err := os.ReadDir(x.Root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != scratchName {
			names = append(names, e.Name())
		}
	}
	scratch, err := os.ReadDir(filepath.Join(x.Root, scratchName))
	if err != nil && !errors.Is(err, os.ErrNotExist) || len(scratch) > 0 {
		t.Errorf("scratch %v, %v", scratch, err)
	}
	return names
}

func TestAnInterruptedExportIsNotVisible(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	s.fail = errors.New("the database went away")
	x := newTestExporter(t, s)
	if err := run(context.Background(), s, x); !errors.Is(err, s.fail) {
		t.Fatalf("got %v", err)
	}
	if left := seen(t, x); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestPartsTogetherGiveTheSameRowsAndARetryContinuesAtTheLastFinishedFile(t *testing.T) {
	list := []relabel.ExportTrajectory{someTrajectory(1, 0, 5), someTrajectory(1, 2, 3), someTrajectory(2, 0, 4)}
	build := func(list []relabel.ExportTrajectory, breaks bool) (*fixedStore, relabel.Export, *Exporter) {
		s := newFixedStore(list...)
		s.export.Form.Divide = 2
		x := newTestExporter(t, s)
		x.partBytes = 2 // trajectories: the last one is a part of its own
		if !breaks {
			return s, export(t, s, x), x
		}
		ctx := context.Background()
		for _, step := range []relabel.ExportJob{{Step: relabel.CutExport}, {Step: relabel.BuildPart, Part: 1}} {
			step.ExportID = s.export.ID
			if err := x.Step(ctx, step); err != nil {
				t.Fatal(err)
			}
		}
		// A worker that was killed in part 0: one file is there, one in its scratch.
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.BuildPart}); err != nil {
			t.Fatal(err)
		}
		s.done[0] = false
		s.parts[0].Files = s.parts[0].Files[:1]
		partial := newFolder(x.Root, s.export.ID).partial
		first := filepath.Join(partial, "messages", "00000.parquet")
		if err := os.Chtimes(first, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(partial, "messages", "00002.parquet"), []byte("PAR1 half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(x.Root, scratchName, s.export.ID.String()+"-1", "messages"), 0o700); err != nil {
			t.Fatal(err)
		}
		e := export(t, s, x)
		if info, err := os.Stat(filepath.Join(e.Directory, "messages", "00000.parquet")); err != nil || info.ModTime().Unix() != 1 {
			t.Errorf("the file that was finished was written again: %v, %v", info.ModTime(), err)
		}
		return s, e, x
	}
	s, e, x := build(list, false)
	if len(s.cut) != 2 || e.Rows != 12 || !slices.Equal(seen(t, x), []string{e.ID.String()}) {
		t.Errorf("%d parts, %d rows, %v", len(s.cut), e.Rows, seen(t, x))
	}
	want := filesBelow(t, e.Directory)
	if len(want) != 4+3 {
		t.Errorf("files %v", slices.Sorted(maps.Keys(want)))
	}
	_, again, x := build(list, true)
	if got := filesBelow(t, again.Directory); !maps.Equal(got, want) {
		t.Errorf("the retry gave other bytes: %v", slices.Sorted(maps.Keys(got)))
	}
	if left := seen(t, x); len(left) != 1 {
		t.Errorf("%v is in the exports' folder", left)
	}
}

func TestAnExportThatIsPublishedAlreadyIsFinishedOnly(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	x := newTestExporter(t, s)
	want := filesBelow(t, export(t, s, x).Directory)
	s.export.State = relabel.ExportRunning // a worker died before the database heard of it
	again := export(t, s, x)
	if again.Rows != 5 || !maps.Equal(filesBelow(t, again.Directory), want) || len(seen(t, x)) != 1 {
		t.Errorf("%+v, %v", again, seen(t, x))
	}
}

func TestTwoWorkersOnOnePartBothEndWell(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 30), someTrajectory(1, 1, 30))
	x := newTestExporter(t, s)
	ctx := context.Background()
	if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.CutExport}); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	for range 4 {
		go func() { errs <- x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.BuildPart}) }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := run(ctx, s, x); err != nil || s.export.Rows != 60 {
		t.Errorf("%d rows, %v", s.export.Rows, err)
	}
	if left := seen(t, x); len(left) != 1 {
		t.Errorf("%v is in the exports' folder", left)
	}
}

func TestACancelledExportIsCleared(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	x := newTestExporter(t, s)
	ctx := context.Background()
	for _, step := range []relabel.ExportStep{relabel.CutExport, relabel.BuildPart} {
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen(t, x)) != 1 {
		t.Fatalf("%v", seen(t, x))
	}
	s.export.State = relabel.ExportCancelled
	for _, step := range []relabel.ExportStep{relabel.FinishExport, relabel.ClearExport} {
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	if left := seen(t, x); len(left) != 0 || s.export.State != relabel.ExportCancelled {
		t.Errorf("%s, %v is left", s.export.State, left)
	}
}

func TestTheWorkerFailsExportsThatCannotSucceedAndRetriesOthers(t *testing.T) {
	work := func(s *fixedStore, attempt int) error {
		w := NewWorker(newTestExporter(t, s))
		var err error
		for _, step := range []relabel.ExportStep{relabel.CutExport, relabel.BuildPart, relabel.FinishExport} {
			job := &river.Job[relabel.ExportJob]{JobRow: &rivertype.JobRow{Attempt: attempt, MaxAttempts: 3}, Args: relabel.ExportJob{ExportID: s.export.ID, Step: step}}
			if err = w.Work(context.Background(), job); err != nil {
				return err
			}
		}
		return err
	}
	empty := newFixedStore(someTrajectory(1, 1, 4))
	empty.export.Selection.Resolved = true
	var cancelled *river.JobCancelError
	if err := work(empty, 1); !errors.As(err, &cancelled) || !slices.Equal(empty.reasons, []string{`all labelled states were excluded: 4 × not_resolved (to include them: --no-resolved; REST: "resolved": false)`}) {
		t.Errorf("an empty export gave %v, reasons %q", err, empty.reasons)
	}
	broken := newFixedStore(someTrajectory(1, 0, 1))
	broken.fail = errors.New("dial tcp 10.0.0.7: secret detail")
	if err := work(broken, 1); err == nil || errors.As(err, &cancelled) || len(broken.reasons) > 0 {
		t.Errorf("a first failure gave %v, reasons %q", err, broken.reasons)
	}
	if err := work(broken, 3); err == nil || len(broken.reasons) != 1 || strings.Contains(broken.reasons[0], "secret") {
		t.Errorf("a last failure gave %v, reasons %q", err, broken.reasons)
	}
}

func TestAStoppedWorkerDoesNotUseUpATry(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	job := &river.Job[relabel.ExportJob]{JobRow: &rivertype.JobRow{Attempt: 3, MaxAttempts: 3}, Args: relabel.ExportJob{ExportID: s.export.ID, Step: relabel.BuildPart}}
	s.export.State = relabel.ExportRunning
	if err := s.CutExport(context.Background(), s.export.ID, 1); err != nil {
		t.Fatal(err)
	}
	var snoozed *river.JobSnoozeError
	if err := NewWorker(newTestExporter(t, s)).Work(ctx, job); !errors.As(err, &snoozed) || len(s.reasons) > 0 {
		t.Errorf("got %v, reasons %q", err, s.reasons)
	}
}

func TestAFullDiskAndAnInvalidFolderAreReportedSafely(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 1))
	x := newTestExporter(t, s)
	x.Root = filepath.Join(x.Root, "file")
	if err := os.WriteFile(x.Root, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(context.Background(), s, x)
	if relabel.CodeOf(err) != relabel.CodeInternal || safeReason(err) != "the export could not be built" {
		t.Errorf("a root that is a file gave %v, shown as %q", err, safeReason(err))
	}
	full := folderError(&os.PathError{Op: "write", Path: "/srv/secret", Err: syscall.ENOSPC})
	if relabel.CodeOf(full) != relabel.CodeUnavailable || safeReason(full) != "no disk space left for the export" {
		t.Errorf("a full disk gave %v, shown as %q", full, safeReason(full))
	}
}
