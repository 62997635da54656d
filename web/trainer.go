package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/safetext"
)

// exportsLooked is the number of a run's newest exports that are searched for a trajectory.
const exportsLooked = 50

// trainerView is the rows of a trajectory in an export.
type trainerView struct {
	trajectoryView
	Holding []relabel.Holding // the exports that selected it, the newest first
	Looked  int
	Export  *relabel.Export // the one whose rows are shown
	View    relabel.View
	Rows    []heldRow
	Row     *rowView
	Absent  string        // turns whose label is in no row
	Problem string        // why rows cannot be shown
	turns   map[int][]int // whose labels a row holds
}

// heldRow is a row with labels of the trajectory.
type heldRow struct {
	Number  int
	Turns   string
	Labels  int
	Trained int // tokens of them; 0 if the view has none
	Link    string
	Shown   bool
}

// Link is the address of this page with another export or view.
func (v trainerView) Link(export relabel.ID, view relabel.View) string {
	return v.Base() + "/trainer?" + url.Values{"export": {export.String()}, "view": {string(view)}}.Encode()
}

func (v *viewer) showTrainer(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	view := trainerView{Looked: exportsLooked}
	if view.trajectoryView, err = v.trajectoryOf(r, id); err != nil {
		return err
	}
	if err := v.listHeads(r.Context(), &view.trajectoryView); err != nil {
		return err
	}
	if view.Holding, err = v.Store.ListHolding(r.Context(), view.RunID, id, exportsLooked); err != nil {
		return err
	}
	if err := v.chooseRow(r, &view); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "trainer", Title: "Trainer’s view of " + safetext.Plain(view.InstanceID), Section: "Trajectories", Crumbs: view.crumbsBelow(),
		Keys: rowKeys, Scripts: []string{"row.js"}, View: view})
}

// chooseRow reads the requested export, view and row, by default the newest, the tree view and the
// first one. A turn selects the row with its label.
func (v *viewer) chooseRow(r *http.Request, view *trainerView) error {
	q := r.URL.Query()
	at := 0
	if word := q.Get("export"); word != "" {
		at = slices.IndexFunc(view.Holding, func(h relabel.Holding) bool { return h.Export.ID.String() == word })
	}
	if at < 0 {
		return relabel.Errorf(relabel.CodeNotFound, "This export does not contain the trajectory.").On("export")
	}
	if len(view.Holding) == 0 {
		return nil
	}
	held := view.Holding[at]
	view.Export, view.View = &held.Export, relabel.View(q.Get("view"))
	if view.View == "" {
		view.View = likeliest(held.Export.Form.Views)
	}
	if !slices.Contains(held.Export.Form.Views, view.View) {
		return relabel.Errorf(relabel.CodeNotFound, "The export has no such view.").On("view")
	}
	err := v.findRows(r.Context(), view, held)
	if err == nil && len(view.Rows) > 0 {
		err = v.showRow(r.Context(), view, q)
	}
	if code := relabel.CodeOf(err); code == relabel.CodeConflict || code == relabel.CodeUnavailable {
		view.Problem, err = safeMessage(err), nil
	}
	return err
}

// likeliest is the view that shows most of the relation between labels.
func likeliest(views []relabel.View) relabel.View {
	for _, v := range []relabel.View{relabel.ViewTree, relabel.ViewPacked, relabel.ViewLinear} {
		if slices.Contains(views, v) {
			return v
		}
	}
	if slices.Contains(views, relabel.ViewMessages) || len(views) == 0 {
		return relabel.ViewMessages
	}
	return views[0]
}

// findRows finds the rows in the files of the part that contains the trajectory.
func (v *viewer) findRows(ctx context.Context, view *trainerView, held relabel.Holding) error {
	if v.Exports == nil {
		return relabel.Errorf(relabel.CodeConflict, "This server does not read exports.")
	}
	part, err := v.Store.FindExportPart(ctx, held.Export.ID, held.Part)
	if err != nil {
		return err
	}
	of := func(path string) bool {
		return slices.ContainsFunc(part.Files, func(f relabel.ExportFile) bool { return f.Path == path })
	}
	labels, err := v.Exports.Holds(ctx, held.Export, view.View, view.ID, of)
	if err != nil {
		return err
	}
	view.turns = map[int][]int{}
	for _, l := range labels {
		if len(view.Rows) == 0 || view.Rows[len(view.Rows)-1].Number != l.Row {
			view.Rows = append(view.Rows, heldRow{Number: l.Row, Link: view.Link(view.Export.ID, view.View) + "&row=" + strconv.Itoa(l.Row)})
		}
		row := &view.Rows[len(view.Rows)-1]
		row.Labels, row.Trained = row.Labels+1, row.Trained+l.Span.Length
		view.turns[l.Row] = append(view.turns[l.Row], l.Span.Turn)
	}
	var absent []int
	for t := 1; t <= len(view.Heads); t++ {
		if !slices.ContainsFunc(labels, func(l relabel.HeldLabel) bool { return l.Span.Turn == t }) {
			absent = append(absent, t)
		}
	}
	view.Absent = stretches(absent)
	for i := range view.Rows {
		view.Rows[i].Turns = stretches(view.turns[view.Rows[i].Number])
	}
	return nil
}

// Answer is the turn with the ranked answer if its label is in a row; 0 otherwise.
func (v trainerView) Answer() int {
	at := v.answer()
	for _, turns := range v.turns {
		if slices.Contains(turns, at) {
			return at
		}
	}
	return 0
}

// showRow reads the requested row, and keeps the blocks of the trajectory.
func (v *viewer) showRow(ctx context.Context, view *trainerView, q url.Values) error {
	at := 0
	if word := q.Get("row"); word != "" {
		at = slices.IndexFunc(view.Rows, func(h heldRow) bool { return strconv.Itoa(h.Number) == word })
	} else if turn := number(q.Get("turn"), 0); turn > 0 {
		at = max(0, slices.IndexFunc(view.Rows, func(h heldRow) bool { return slices.Contains(view.turns[h.Number], turn) }))
	}
	if at < 0 {
		return relabel.Errorf(relabel.CodeNotFound, "This row does not contain the trajectory.").On("row")
	}
	row, err := v.readRow(ctx, *view.Export, view.View, view.Rows[at].Number)
	if err != nil {
		return err
	}
	view.Rows[at].Shown = true
	all := len(row.Blocks)
	row.Blocks = ofTrajectory(row.Blocks, view.ID.String())
	row.Hidden = all - len(row.Blocks)
	row.Row.Spans = slices.DeleteFunc(row.Row.Spans, func(s relabel.ExportSpan) bool { return s.Trajectory != view.ID.String() })
	row.Trained = view.Rows[at].Trained
	addRuns(row.Blocks, &row.ShownRow)
	if at > 0 {
		row.Previous = view.Rows[at-1].Link
	}
	if at+1 < len(view.Rows) {
		row.Next = view.Rows[at+1].Link
	}
	view.Row = &row
	return nil
}

// stretches writes numbers in order as "1–4, 6".
func stretches(numbers []int) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if part := strconv.Itoa(numbers[i]); end > i {
			parts = append(parts, fmt.Sprintf("%s–%d", part, numbers[end]))
		} else {
			parts = append(parts, part)
		}
		i = end + 1
	}
	return strings.Join(parts, ", ")
}
