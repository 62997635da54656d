package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"sort"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// outcomeView is what came of a trajectory.
type outcomeView struct {
	Patch, Gold template.HTML // the submission, and the task's own; each with the changes marked that the other lacks
	Bytes       int           // of the submission
	Same        bool          // they change the same lines
	HasVerdict  bool
	Verdict     relabel.Verdict
	History     []relabel.Verdict // every verdict, the newest first
	Took        string
	Tests       []testRow
	Count       string
	Output      show.Body
}

// Because says why the patch does not pass, "" where it does.
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

// MoreDropped is how many dropped paths the verdict does not name.
func (v outcomeView) MoreDropped() int { return max(0, v.Verdict.DroppedCount-len(v.Verdict.Dropped)) }

// testsShown is how many tests are shown from the start: those to look at first.
const testsShown = 40

// TestsFirst and TestsRest are the tests that are shown from the start, and the others.
func (v outcomeView) TestsFirst() []testRow { return v.Tests[:min(testsShown, len(v.Tests))] }
func (v outcomeView) TestsRest() []testRow  { return v.Tests[min(testsShown, len(v.Tests)):] }

// testRow is one test of the task.
type testRow struct {
	Name string
	N    int    // from 1, as they are listed
	Must string // what it was before the patch: "failed" or "passed"; "" where the task does not say
	testWord
}

// testWord says how a test ended, in a word, a sign and a class.
type testWord struct {
	Class, Sign, Word string
	rank              int // those to look at first first
}

// passedRank is that of a test that passed.
const passedRank = 2

// wordOf says how a test ended. One without a result is not known, which is no failure of
// its own, though the verdict counts it as one.
func wordOf(status relabel.TestStatus) testWord {
	switch {
	case status.Passed():
		return testWord{"good", "✓", strings.ToLower(string(status)), passedRank}
	case status == "" || status == relabel.TestAbsent:
		return testWord{"quiet", "–", "not known", 1}
	}
	return testWord{"bad", "✗", strings.ToLower(string(status)), 0}
}

// outcome finds the patch and the verdict, where there are any.
func (v *viewer) outcome(ctx context.Context, t trajectoryView) (outcomeView, error) {
	view, err := v.judged(ctx, t)
	if err != nil {
		return view, err
	}
	patch, err := v.Store.FindPatch(ctx, t.ID)
	if err != nil && relabel.CodeOf(err) != relabel.CodeNotFound {
		return view, err
	}
	view.showPatches(string(patch), t.Task.Patch, show.Limits{Head: show.HeadShown, Lines: 200, All: t.Base() + "/patch"})
	return view, nil
}

// judged finds the verdict.
func (v *viewer) judged(ctx context.Context, t trajectoryView) (view outcomeView, err error) {
	view.Verdict, err = v.Store.FindVerdict(ctx, t.ID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		view.Tests = testRows(t.Task, nil)
		return view, nil
	}
	if err != nil {
		return view, err
	}
	if view.History, err = v.Store.ListVerdicts(ctx, t.ID); err != nil {
		return view, err
	}
	view.HasVerdict, view.Took = err == nil, show.Duration(view.Verdict.Millis)
	view.Output = show.Capped(strings.TrimRight(string(view.Verdict.Output), "\n"), t.Base()+"/test-output")
	view.Tests = testRows(t.Task, view.Verdict.Tests)
	view.Count = countTests(view.Tests)
	return view, err
}

// showPatches shows submission and gold with what each has of its own marked.
func (v *outcomeView) showPatches(patch, gold string, l show.Limits) {
	v.Bytes = len(patch)
	a, b := show.PatchLines(patch), show.PatchLines(gold)
	if len(a) > 0 && len(b) > 0 {
		show.ComparePatches(a, b)
		v.Same = !show.AnyOwn(a) && !show.AnyOwn(b)
	}
	v.Patch, v.Gold = l.Diff(a), l.Diff(b)
}

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
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if a.rank != b.rank {
			return a.rank < b.rank
		}
		if a.Must != b.Must {
			return a.Must == "failed"
		}
		return a.Name < b.Name
	})
	for i := range rows {
		rows[i].N = i + 1
	}
	return rows
}

// countTests says how many tests ended how.
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

// textView is a long text on a page of its own.
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
