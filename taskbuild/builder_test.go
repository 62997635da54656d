package taskbuild_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/taskbuild"
)

// fakeEngine keeps the names of images.
type fakeEngine struct {
	mu     sync.Mutex
	images map[string]taskbuild.ImageSpec
	made   []string
	size   int64 // of each image
	fail   map[string]error
	onMake func(name string)
	extra  []byte // a tar archive of further files of each image
}

func newEngine() *fakeEngine {
	return &fakeEngine{images: map[string]taskbuild.ImageSpec{}, size: 100, fail: map[string]error{}}
}

func (e *fakeEngine) Labels(_ context.Context, label string, names []string) (map[string]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found := map[string]string{}
	for _, n := range names {
		if spec, there := e.images[n]; there {
			found[n] = spec.Labels[label]
		}
	}
	return found, nil
}

func (e *fakeEngine) MakeImage(ctx context.Context, spec taskbuild.ImageSpec) error {
	var files bytes.Buffer
	if err := spec.Files(&files); err != nil {
		return err
	}
	spec.Files = func(w io.Writer) error {
		_, err := w.Write(files.Bytes())
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.onMake != nil {
		e.onMake(spec.Name)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for part, err := range e.fail {
		if strings.Contains(spec.Script, part) || strings.Contains(spec.Name, part) {
			return err
		}
	}
	e.images[spec.Name] = spec
	e.made = append(e.made, spec.Name)
	return nil
}

func (e *fakeEngine) BuildImage(_ context.Context, spec taskbuild.DockerfileSpec) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.fail["Dockerfile"]; err != nil {
		return err
	}
	e.images[spec.Name] = taskbuild.ImageSpec{Name: spec.Name, Labels: spec.Labels, Files: spec.Context}
	e.made = append(e.made, spec.Name)
	return nil
}

// ReadImage gives what was copied into the image, and the extra files.
func (e *fakeEngine) ReadImage(_ context.Context, name string, _ map[string]string, read func(io.Reader) error) error {
	e.mu.Lock()
	spec := e.images[name]
	e.mu.Unlock()
	var archive bytes.Buffer
	if err := spec.Files(&archive); err != nil {
		return err
	}
	return errors.Join(read(&archive), read(bytes.NewReader(e.extra)))
}

func (e *fakeEngine) EnsureImage(context.Context, string) error { return nil }

func (e *fakeEngine) RemoveImage(_ context.Context, name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.images, name)
	return nil
}

func (e *fakeEngine) ImagesWith(_ context.Context, label, value string) (map[string]int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sizes := map[string]int64{}
	for name, spec := range e.images {
		if spec.Labels[label] == value {
			sizes[name] = e.size
		}
	}
	return sizes, nil
}

func (e *fakeEngine) Tidy(context.Context, string, string) error { return nil }
func (e *fakeEngine) Free(context.Context) (int64, error)        { return 1 << 40, nil }
func (e *fakeEngine) names() []string                            { return slices.Sorted(maps.Keys(e.images)) }

// fakeTester answers by the instance id and whether the patch is applied.
type fakeTester struct {
	mu    sync.Mutex
	calls map[string]int // "id after" or "id before"
	runs  map[string][]taskbuild.TestRun
}

func (f *fakeTester) Test(ctx context.Context, task relabel.Task, patch string, _ time.Duration) (taskbuild.TestRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := task.InstanceID + map[bool]string{true: " before", false: " after"}[patch == ""]
	n := f.calls[key]
	f.calls[key]++
	if runs := f.runs[key]; len(runs) > 0 {
		return runs[min(n, len(runs)-1)], ctx.Err()
	}
	status := relabel.TestPassed
	if patch == "" {
		status = relabel.TestFailed
	}
	return outcomes("fixed", status, "kept", relabel.TestPassed), ctx.Err()
}

// outcomes is a run with tests and their statuses.
func outcomes(pairs ...any) taskbuild.TestRun {
	run := taskbuild.TestRun{Tests: map[string]relabel.TestStatus{}, Log: []byte("log\n")}
	for i := 0; i < len(pairs); i += 2 {
		run.Tests[pairs[i].(string)] = pairs[i+1].(relabel.TestStatus)
	}
	return run
}

// listSource yields fixed items.
type listSource []taskbuild.Item

func (s listSource) Items(context.Context) iter.Seq2[taskbuild.Item, error] {
	return func(yield func(taskbuild.Item, error) bool) {
		for _, item := range s {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func (listSource) Close() error { return nil }

// bench is a build with fakes.
type bench struct {
	t       *testing.T
	engine  *fakeEngine
	tester  *fakeTester
	options taskbuild.Options
	source  listSource
}

func newBench(t *testing.T, ids ...string) *bench {
	t.Helper()
	repository := t.TempDir()
	git(t, repository, "init", "-q", "-b", "main")
	write(t, repository, "a.py", "x = 1\n")
	write(t, repository, "requirements.txt", "one\n")
	git(t, repository, "add", "-A")
	git(t, repository, "commit", "-q", "-m", "base")
	base := git(t, repository, "rev-parse", "HEAD")
	b := &bench{t: t, engine: newEngine(), tester: &fakeTester{calls: map[string]int{}, runs: map[string][]taskbuild.TestRun{}}}
	b.options = taskbuild.Options{Out: filepath.Join(t.TempDir(), "out"), Jobs: 2, Before: 3, After: 3, Recipe: taskbuild.Recipe{
		Name: "pytest", Image: "base", Workdir: "/testbed", TestCommand: "pytest {tests}", Tests: taskbuild.TestsFiles, LogParser: "pytest",
		TestFiles: []string{"test_*.py"}, SourceFiles: []string{"*.py"}, TestSeconds: 10, BuildSeconds: 10,
	}}
	for i, id := range ids {
		b.source = append(b.source, taskbuild.Item{Candidate: taskbuild.Candidate{
			ID: id, Repo: "acme/shelf", Repository: repository, Base: base, Origin: taskbuild.OriginCommit, Change: fmt.Sprint(i), ProblemStatement: "It breaks.",
			Patch:     fmt.Sprintf("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = %s%d\n", id, i),
			TestFiles: []string{"test_a.py"},
		}})
	}
	return b
}

func (b *bench) build() taskbuild.Report {
	b.t.Helper()
	report, err := taskbuild.New(b.engine, b.tester, b.options).Build(b.t.Context(), b.source)
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}

// lines are the tasks of the output folder.
func (b *bench) lines() []taskbuild.Line {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.options.Out, taskbuild.TasksFile))
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []taskbuild.Line
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var l taskbuild.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			b.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// The report names the file of tasks that it is about.
func TestTheReportHasTheDigestOfItsTasks(t *testing.T) {
	b := newBench(t, "one")
	b.build()
	tasks, err := os.ReadFile(filepath.Join(b.options.Out, taskbuild.TasksFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(b.options.Out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report taskbuild.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if report.TasksSHA256 != fmt.Sprintf("%x", sha256.Sum256(tasks)) {
		t.Errorf("the report is about %q", report.TasksSHA256)
	}
}

func TestTestsThatSeparateBecomeTheTask(t *testing.T) {
	b := newBench(t, "one")
	passed, failed := relabel.TestPassed, relabel.TestFailed
	b.tester.runs["one before"] = []taskbuild.TestRun{outcomes("fixed", failed, "kept", passed, "broken", passed, "never", failed, "flickers", passed), outcomes("fixed", failed, "kept", passed, "broken", passed, "flickers", failed)}
	b.tester.runs["one after"] = []taskbuild.TestRun{outcomes("fixed", passed, "new", passed, "kept", passed, "broken", failed, "flickers", passed)}
	report := b.build()
	if report.Sound != 1 || report.Flaky != 1 || len(report.FlakyTests["one"]) != 1 || b.tester.calls["one before"] != 3 || b.tester.calls["one after"] != 3 {
		t.Errorf("%+v, runs %v", report, b.tester.calls)
	}
	line := b.lines()[0]
	if !slices.Equal(line.FailToPass, []string{"fixed", "new"}) || !slices.Equal(line.PassToPass, []string{"kept"}) || line.TestCmd != "pytest test_a.py" {
		t.Errorf("%+v", line)
	}
}

func TestEachReasonIsReported(t *testing.T) {
	failed, passed := relabel.TestFailed, relabel.TestPassed
	b := newBench(t, "same", "flaky", "endless", "broken", "silent", "infra", "good")
	b.tester.runs["same before"] = []taskbuild.TestRun{outcomes("kept", passed)}
	b.tester.runs["same after"] = []taskbuild.TestRun{outcomes("kept", passed)}
	b.tester.runs["flaky before"] = []taskbuild.TestRun{outcomes("a", failed), outcomes("a", passed)}
	b.tester.runs["flaky after"] = []taskbuild.TestRun{outcomes("a", passed)}
	b.tester.runs["endless after"] = []taskbuild.TestRun{{TimedOut: true}}
	b.tester.runs["broken after"] = []taskbuild.TestRun{{DoesNotApply: true, Log: []byte("error: patch failed: a.py:1\n")}}
	b.tester.runs["silent after"] = []taskbuild.TestRun{{Log: []byte("sh: pytest: not found\n")}}
	b.tester.runs["infra after"] = []taskbuild.TestRun{{Problem: "the engine failed"}}
	report := b.build()
	want := map[string]taskbuild.Reason{
		"same": taskbuild.ReasonNothingFails, "flaky": taskbuild.ReasonOnlyFlaky, "endless": taskbuild.ReasonNeverEnds, "broken": taskbuild.ReasonDoesNotApply,
		"silent": taskbuild.ReasonNoOutcome, "infra": taskbuild.ReasonInfrastructure,
	}
	got := map[string]taskbuild.Reason{}
	for _, r := range report.Refused {
		got[r.ID] = r.Reason
	}
	if !maps.Equal(got, want) || report.Sound != 1 || report.Candidates != 7 {
		t.Errorf("got %v", got)
	}
	if names := b.engine.names(); len(names) != 1 {
		t.Errorf("images of refused candidates remain: %v", names)
	}
	b.tester.calls = map[string]int{}
	if again := b.build(); again.Built != 1 || b.tester.calls["infra after"] != 1 || len(b.tester.calls) != 1 {
		t.Errorf("only the infrastructure error is to be retried: %v", b.tester.calls)
	}
}

func TestSecondBuildDoesNothingTwice(t *testing.T) {
	b := newBench(t, "one", "two", "three")
	first := b.build()
	made := len(b.engine.made)
	b.tester.calls = map[string]int{}
	second := b.build()
	if second.Built != 0 || len(b.tester.calls) != 0 || len(b.engine.made) != made || second.Sound != first.Sound || first.Built != 3 {
		t.Errorf("first %+v, second %+v, runs %v", first, second, b.tester.calls)
	}
	b.engine.RemoveImage(t.Context(), b.lines()[1].Image)
	if third := b.build(); third.Built != 1 || third.Sound != 3 {
		t.Errorf("a task whose image was removed is to be built again: %+v", third)
	}
}

func TestInterruptedBuildContinues(t *testing.T) {
	b := newBench(t, "one", "two", "three")
	b.options.Jobs = 1
	ctx, cancel := context.WithCancel(t.Context())
	b.engine.onMake = func(string) {
		if len(b.engine.made) == 1 {
			cancel()
		}
	}
	if _, err := taskbuild.New(b.engine, b.tester, b.options).Build(ctx, b.source); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.options.Out, taskbuild.TasksFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an interrupted build wrote tasks: %v", err)
	}
	// A process that dies while it writes leaves half a line.
	journal := filepath.Join(b.options.Out, "journal.jsonl")
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"key":"half`); err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	b.engine.onMake = nil
	if report := b.build(); report.Built != 2 || report.Sound != 3 {
		t.Errorf("%+v", report)
	}
	text, err := os.ReadFile(journal)
	if err != nil || strings.Contains(string(text), "half") || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%v, journal:\n%s", err, text)
	}
}

func TestNearDuplicatesAndTheirImagesGo(t *testing.T) {
	b := newBench(t, "one", "two")
	b.source[1].Candidate.Patch = b.source[0].Candidate.Patch
	var last taskbuild.Entry
	b.options.Jobs, b.options.Done = 1, func(e taskbuild.Entry) { last = e }
	report := b.build()
	if last.ID != "two" || last.Reason != taskbuild.ReasonDuplicate {
		t.Errorf("the last line of progress is about %+v", last)
	}
	if report.Sound != 1 || report.Tasks[0] != "one" || len(b.engine.names()) != 1 || report.Refused[0].Reason != taskbuild.ReasonDuplicate || !strings.Contains(report.Refused[0].Detail, "one") {
		t.Errorf("%+v, images %v", report, b.engine.names())
	}
	if again := b.build(); again.Built != 0 || again.Sound != 1 {
		t.Errorf("again: %+v", again)
	}
}

func TestDiskLimitPostponesCandidates(t *testing.T) {
	b := newBench(t, "one", "two", "three")
	b.options.Jobs, b.options.MaxDisk = 1, 200
	report := b.build()
	if report.Sound != 2 || report.Postponed != 1 || !strings.Contains(report.Stopped, "allowed") {
		t.Errorf("%+v", report)
	}
	b.options.MaxDisk = 0
	if report := b.build(); report.Sound != 3 || report.Built != 1 || report.Postponed != 0 {
		t.Errorf("without the limit: %+v", report)
	}
}

func TestDependenciesAreMadeOnce(t *testing.T) {
	b := newBench(t, "one", "two", "three")
	b.options.Recipe.Dependencies, b.options.Recipe.Manifests = []string{"pip install"}, []string{"requirements.txt"}
	if report := b.build(); report.Sound != 3 || len(b.engine.made) != 4 {
		t.Errorf("%+v, made %v", report, b.engine.made)
	}
	b.options.Recipe.Dependencies = []string{"pip install other"}
	b.engine.fail["pip install other"] = &taskbuild.CommandError{Exit: 1, Output: "No matching distribution\n"}
	report := b.build()
	if report.Sound != 0 || len(report.Refused) != 3 || report.Refused[2].Reason != taskbuild.ReasonDependencies || !strings.Contains(report.Refused[2].Detail, "No matching distribution") {
		t.Errorf("%+v", report)
	}
}

func TestFailedImagesAreMadeAgainWhenAsked(t *testing.T) {
	b := newBench(t, "one")
	b.options.Recipe.Dependencies = []string{"pip install other"}
	b.engine.fail["pip install other"] = &taskbuild.CommandError{Exit: 1, Output: "Temporary failure in name resolution\n"}
	b.build()
	delete(b.engine.fail, "pip install other")
	if report := b.build(); report.Built != 0 || report.Sound != 0 {
		t.Errorf("%+v", report)
	}
	b.options.Again = true
	if report := b.build(); report.Built != 1 || report.Sound != 1 {
		t.Errorf("%+v", report)
	}
}

func TestFolderKeepsItsSourceAndCountsAbsentTasks(t *testing.T) {
	b := newBench(t, "one", "two")
	b.options.Source = "the history of /src/one"
	b.build()
	b.options.Source = "the history of /src/two"
	_, err := taskbuild.New(b.engine, b.tester, b.options).Build(t.Context(), b.source)
	if relabel.CodeOf(err) != relabel.CodeConflict || !strings.Contains(err.Error(), "has tasks of the history of /src/one") || len(b.lines()) != 2 {
		t.Errorf("another source: %v", err)
	}
	b.options.Source = "the history of /src/one"
	b.source = b.source[:1]
	report := b.build()
	if !slices.Equal(report.Absent, []string{"two"}) || !strings.Contains(strings.Join(report.Lines(), "\n"), "not among these changes: 1, such as two") {
		t.Errorf("%+v", report)
	}
}

func TestFolderHasOneBuildAtATime(t *testing.T) {
	b := newBench(t, "one")
	var second error
	b.engine.onMake = func(string) {
		_, second = taskbuild.New(b.engine, b.tester, b.options).Build(t.Context(), b.source)
	}
	b.build()
	if relabel.CodeOf(second) != relabel.CodeConflict {
		t.Errorf("got %v", second)
	}
}
