package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
)

// Bounds of a comparison.
const (
	pairsAtFirst = 4        // differing rows with texts at once
	pairsAtOnce  = 20       // rows with texts per request
	mostCompared = 16 << 20 // bytes of one side's actions; above, turns are aligned by number
)

// compareView is two trajectories of one task side by side.
type compareView struct {
	A, B    compareSide
	Rows    []pairRow
	Parts   int  // number of the first row in which they differ, from 1; 0: none
	Same    int  // rows in which both do the same
	Aligned bool // by action; otherwise by number, because there is too much
	Pairs   []pairView
	Tests   []testPair
}

type compareSide struct {
	trajectoryView
	Letter string
}

// Width is the class of the rows' cells.
func (v compareView) Width() string { return cellWidth(len(v.Rows)) }

func (v *viewer) compareRoutes() routes { return routes{"GET /compare": v.showComparison} }

func (v *viewer) showComparison(w http.ResponseWriter, r *http.Request) error {
	a, err := v.findSide(r, "a")
	if err != nil {
		return err
	}
	b, err := v.findSide(r, "b")
	if err != nil {
		return err
	}
	if a.TaskID != b.TaskID {
		return relabel.Errorf(relabel.CodeInvalid, "Only trajectories of one task can be compared; these are of %s and of %s.", safetext.Plain(a.InstanceID), safetext.Plain(b.InstanceID)).On("b")
	}
	view := compareView{A: a, B: b}
	if pairs := r.URL.Query().Get("pairs"); pairs != "" {
		err = v.readPairs(r.Context(), &view, strings.Split(pairs, ","))
	} else {
		err = v.compare(r.Context(), &view)
	}
	if err != nil {
		return err
	}
	set, err := v.Store.FindTaskset(r.Context(), a.Task.TasksetID)
	if err != nil {
		return err
	}
	crumbs := append(tasksetCrumbs(set), crumb{a.InstanceID, taskPath(set.ID, a.TaskID, a.InstanceID)})
	return v.render(w, r, page{Template: "compare", Title: "Two trajectories of " + safetext.Plain(a.InstanceID), Section: "Tasks", Crumbs: crumbs,
		Keys: []shortcut{{"j k", "row"}, {"n p", "difference"}, {"g G", "ends"}, {"e", "open, close"}}, Scripts: []string{"compare.js"}, View: view})
}

// findSide finds the trajectory that a parameter names, with its heads.
func (v *viewer) findSide(r *http.Request, name string) (side compareSide, err error) {
	side.Letter = strings.ToUpper(name)
	id, err := relabel.ParseID(name, r.URL.Query().Get(name))
	if err != nil {
		return side, err
	}
	if side.trajectoryView, err = v.trajectoryOf(r, id); err == nil {
		err = v.listHeads(r.Context(), &side.trajectoryView)
	}
	return side, err
}

// compare aligns the turns of both and reads the texts of the first differing rows.
func (v *viewer) compare(ctx context.Context, view *compareView) error {
	view.Aligned = view.A.actionBytes() <= mostCompared && view.B.actionBytes() <= mostCompared
	a, err := v.actionsOf(ctx, view.A.trajectoryView, view.Aligned)
	if err != nil {
		return err
	}
	b, err := v.actionsOf(ctx, view.B.trajectoryView, view.Aligned)
	if err != nil {
		return err
	}
	for _, p := range align(a, b) {
		view.Rows = append(view.Rows, view.row(p, a, b))
	}
	var keys []string
	for _, row := range view.Rows {
		if row.Class != "equal" && len(keys) < pairsAtFirst {
			keys = append(keys, row.Key())
		}
	}
	if err := v.readPairs(ctx, view, keys); err != nil {
		return err
	}
	for i := range view.Rows {
		if at := slices.Index(keys, view.Rows[i].Key()); at >= 0 {
			view.Rows[i].Loaded = &view.Pairs[at]
		}
	}
	return v.compareEnds(ctx, view)
}

// actionBytes is the total size of its executed actions.
func (v trajectoryView) actionBytes() (n int) {
	for _, h := range v.Heads {
		n += h.Bytes
	}
	return n
}
