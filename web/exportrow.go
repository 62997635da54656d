package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"relabel"
)

type rowView struct {
	relabel.ShownRow
	Export         relabel.Export
	View           relabel.View
	Number         int
	Blocks         []rowBlock
	Hidden         int // blocks of other trajectories that are not shown
	Trained        int // tokens of labels, or parts
	Parts          []rowPart
	Previous, Next string
}

// rowPart is a message or a text of a row of text.
type rowPart struct {
	relabel.RowPart
	Folded bool // long, and not trained on: closed at first
}

// foldedText is the length in bytes above which texts that are not trained on are folded.
const foldedText = 4000

// Address is that of the whole row.
func (v rowView) Address() string { return rowPath(v.Export.ID, v.View, v.Number) }

func rowPath(export relabel.ID, view relabel.View, n int) string {
	return fmt.Sprintf("%s/rows/%s/%d", exportPath(export), view, n)
}

var rowKeys = []shortcut{{"j k", "row"}, {"← →", "supervised token"}}

func (v *viewer) showExportRow(w http.ResponseWriter, r *http.Request, e relabel.Export) error {
	number, err := strconv.Atoi(r.PathValue("row"))
	if err != nil || number < 0 {
		return relabel.Errorf(relabel.CodeNotFound, "Rows are numbered from 0.")
	}
	view, err := v.readRow(r.Context(), e, relabel.View(r.PathValue("view")), number)
	if err != nil {
		return err
	}
	addRuns(view.Blocks, &view.ShownRow)
	if number > 0 {
		view.Previous = rowPath(e.ID, view.View, number-1)
	}
	if number+1 < view.Of {
		view.Next = rowPath(e.ID, view.View, number+1)
	}
	return v.render(w, r, page{Template: "exportrow", Title: fmt.Sprintf("Row %d of %s", number, view.View), Section: "Exports", Keys: rowKeys, Scripts: []string{"row.js"},
		Crumbs: []crumb{{"Exports", "/exports"}, {"export " + short(e.ID), exportPath(e.ID)}}, View: view})
}

// readRow reads a row and cuts it into blocks without texts.
func (v *viewer) readRow(ctx context.Context, e relabel.Export, of relabel.View, number int) (view rowView, err error) {
	view = rowView{Export: e, View: of, Number: number}
	if e.State != relabel.ExportDone || v.Exports == nil {
		return view, relabel.Errorf(relabel.CodeConflict, "Rows are shown when the export is done.")
	}
	if view.ShownRow, err = v.Exports.Row(ctx, e, of, number); err != nil {
		return view, err
	}
	view.Blocks = blocksOf(&view.Row)
	for _, label := range view.Row.Labels {
		if label != relabel.Unsupervised {
			view.Trained++
		}
	}
	for _, p := range view.Row.Parts {
		view.Parts = append(view.Parts, rowPart{p, !p.Trained && len(p.Body()) > foldedText})
		if p.Trained {
			view.Trained++
		}
	}
	return view, nil
}
