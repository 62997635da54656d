package web

import (
	"context"
	"net/http"
	"strings"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// Bounds of a comparison.
const (
	pairsAtFirst = 4        // rows in which they part whose texts the page begins with
	pairsAtOnce  = 20       // that may be asked for in one go
	mostCompared = 16 << 20 // bytes of one side's actions; beyond, turns are aligned by number
)

// compareView is two trajectories of one task beside each other.
type compareView struct {
	A, B    compareSide
	Rows    []pairRow
	Parts   int  // number of the first row in which they differ, from 1; 0: none
	Same    int  // rows in which both do the same
	Aligned bool // by what is done; else by number, because there is too much
	Pairs   []pairView
	Tests   []testPair
}

// compareSide is one of two trajectories.
type compareSide struct {
	trajectoryView
	Letter string
}

// Width is how wide the cells of the rows are.
func (v compareView) Width() string {
	return trajectoryView{Heads: make([]show.Head, len(v.Rows))}.Width()
}

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
		return relabel.Errorf(relabel.CodeInvalid, "Two trajectories of one task are compared; these are of %s and of %s.", safetext.Plain(a.InstanceID), safetext.Plain(b.InstanceID)).On("b")
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
	id, err := relabel.ParseID(name, r.URL.Query().Get(name))
	if err != nil {
		return side, err
	}
	side.Letter = strings.ToUpper(name)
	if side.trajectoryView, err = v.trajectoryOf(r, id); err != nil {
		return side, err
	}
	return side, v.listHeads(r.Context(), &side.trajectoryView)
}

// compare aligns the turns of both and reads the texts around where they part.
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
	var shown []*pairRow
	var keys []string
	for i := range view.Rows {
		if row := &view.Rows[i]; row.Class != "equal" && len(shown) < pairsAtFirst {
			shown, keys = append(shown, row), append(keys, row.Key())
		}
	}
	if err := v.readPairs(ctx, view, keys); err != nil {
		return err
	}
	for i, row := range shown {
		row.Loaded = &view.Pairs[i]
	}
	return v.compareEnds(ctx, view)
}

// actionBytes is how much its executed actions are, together.
func (v trajectoryView) actionBytes() (n int) {
	for _, h := range v.Heads {
		n += h.Bytes
	}
	return n
}
