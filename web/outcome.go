package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// outcomeView is the patch and the verdicts of a trajectory.
type outcomeView struct {
	Patch, Gold template.HTML // the submission and the gold patch, each with marks on the changes that the other lacks
	Bytes       int           // of the submission
	Same        bool          // they change the same lines
	HasVerdict  bool
	Verdict     relabel.Verdict
	History     []relabel.Verdict // every verdict, the newest first
	Took        string
	Tests       []testRow
	Count       string
	Output      show.Body
	Ranking     *rankingView // of a task to localise, instead of patch and tests
}

// Because is the reason why the patch does not pass, "" if it passes.
func (v outcomeView) Because() string {
	if v.Verdict.Passed {
		return ""
	}
	return verdictWord(v.Verdict.Reason)
}

// Skipped names the tests that were skipped, in order.
func (v outcomeView) Skipped() (names []string) {
	for _, row := range v.Tests {
		if row.Word == "skipped" {
			names = append(names, row.Name)
		}
	}
	return names
}

// MoreDropped is the number of dropped paths that the verdict does not name.
func (v outcomeView) MoreDropped() int { return max(0, v.Verdict.DroppedCount-len(v.Verdict.Dropped)) }

// testsShown is the number of tests outside of the folded rest.
const testsShown = 40

// TestsFirst and TestsRest are the tests that are shown at once, and the folded rest.
func (v outcomeView) TestsFirst() []testRow { return v.Tests[:min(testsShown, len(v.Tests))] }
func (v outcomeView) TestsRest() []testRow  { return v.Tests[min(testsShown, len(v.Tests)):] }

// testRow is one test of the task.
type testRow struct {
	Name string
	N    int    // from 1, as they are listed
	Must string // its result before the patch: "failed" or "passed"; "" if the task does not name it
	testWord
}

// testWord is the result of a test as a word, a sign and a class.
type testWord struct {
	Class, Sign, Word string
	rank              int // order in lists: failed, not known, passed
}

// passedRank is that of a test that passed.
const passedRank = 2

// wordOf describes the result of a test. A test without a result is "not known", although the
// verdict counts it as failed.
func wordOf(status relabel.TestStatus) testWord {
	switch {
	case status.Passed():
		return testWord{"good", "✓", strings.ToLower(string(status)), passedRank}
	case status == "" || status == relabel.TestAbsent:
		return testWord{"quiet", "–", "not known", 1}
	}
	return testWord{"bad", "✗", strings.ToLower(string(status)), 0}
}

// outcome finds the patch and the verdict, and shows the patch within limits.
func (v *viewer) outcome(ctx context.Context, t trajectoryView, l show.Limits) (outcomeView, error) {
	view, err := v.judged(ctx, t, l)
	if err != nil {
		return view, err
	}
	if t.localises() {
		return view, nil
	}
	patch, err := v.patchOf(ctx, t.ID)
	view.showPatches(patch, t.Task.Patch, l)
	return view, err
}

// cardLimits bound the patches on the page of a trajectory.
func (v trajectoryView) cardLimits() show.Limits {
	return show.Limits{Head: show.HeadShown, Lines: 200, All: v.Base() + "/patch"}
}

// patchOf reads the patch of a trajectory, "" without one.
func (v *viewer) patchOf(ctx context.Context, trajectory relabel.ID) (string, error) {
	patch, err := v.Store.FindPatch(ctx, trajectory)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = nil
	}
	return string(patch), err
}

// judged finds the verdicts. The output of the tests is whole without limits.
func (v *viewer) judged(ctx context.Context, t trajectoryView, l show.Limits) (view outcomeView, err error) {
	view.Verdict, err = v.Store.FindVerdict(ctx, t.ID)
	if t.localises() {
		view.Ranking = rankingOf(t, view.Verdict)
	}
	view.Tests = testRows(t.Task, view.Verdict.Tests)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return view, nil
	}
	if err != nil {
		return view, err
	}
	view.History, err = v.Store.ListVerdicts(ctx, t.ID)
	view.HasVerdict, view.Took, view.Count = true, show.Duration(view.Verdict.Millis), countTests(view.Tests)
	l.All = t.Base() + "/test-output"
	view.Output = l.Body(strings.TrimRight(string(view.Verdict.Output), "\n"))
	return view, err
}

// showPatches renders submission and gold patch, with marks on the changes that the other lacks.
func (v *outcomeView) showPatches(patch, gold string, l show.Limits) {
	v.Bytes = len(patch)
	a, b := show.PatchLines(patch), show.PatchLines(gold)
	if len(a) > 0 && len(b) > 0 {
		show.ComparePatches(a, b)
		v.Same = !show.AnyOwn(a) && !show.AnyOwn(b)
	}
	v.Patch, v.Gold = l.Diff(a), l.Diff(b)
}

// mustRank orders tests by their result before the patch.
var mustRank = map[string]int{"failed": 0, "passed": 1, "": 2}

// testRows orders the task's tests: those that failed first, then those without a result.
func testRows(task relabel.Task, tests map[string]relabel.TestStatus) []testRow {
	must := map[string]string{}
	for _, name := range task.PassToPass {
		must[name] = "passed"
	}
	for _, name := range task.FailToPass {
		must[name] = "failed"
	}
	for name := range tests {
		if _, known := must[name]; !known {
			must[name] = ""
		}
	}
	rows := make([]testRow, 0, len(must))
	for name, before := range must {
		rows = append(rows, testRow{Name: name, Must: before, testWord: wordOf(tests[name])})
	}
	slices.SortFunc(rows, func(a, b testRow) int {
		return cmp.Or(a.rank-b.rank, mustRank[a.Must]-mustRank[b.Must], strings.Compare(a.Name, b.Name))
	})
	for i := range rows {
		rows[i].N = i + 1
	}
	return rows
}

func countTests(rows []testRow) string {
	var n [3]int
	for _, r := range rows {
		n[r.rank]++
	}
	var parts []string
	for i, word := range []string{"failed", "not known", "passed"} {
		if n[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[i], word))
		}
	}
	return strings.Join(parts, ", ")
}

type textView struct {
	trajectoryView
	What string
	Body show.Body
}

func (v *viewer) showPatch(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	patch, err := v.Store.FindPatch(r.Context(), view.ID)
	if err != nil {
		return err
	}
	view.Outcome.showPatches(string(patch), view.Task.Patch, show.Limits{})
	return v.render(w, r, page{Template: "text", Title: "Patch of " + safetext.Plain(view.InstanceID), Section: "Trajectories", Crumbs: view.crumbsBelow(), View: textView{trajectoryView: view, What: "Patch"}})
}

func (v *viewer) showOutput(w http.ResponseWriter, r *http.Request, view trajectoryView) error {
	verdict, err := v.Store.FindVerdict(r.Context(), view.ID)
	if err != nil {
		return err
	}
	return v.render(w, r, page{Template: "text", Title: "Test output of " + safetext.Plain(view.InstanceID), Section: "Trajectories", Crumbs: view.crumbsBelow(), View: textView{trajectoryView: view, What: "Test output", Body: show.Whole(strings.TrimRight(string(verdict.Output), "\n"))}})
}
