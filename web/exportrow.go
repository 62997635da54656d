package web

import (
	"fmt"
	"net/http"
	"strconv"

	"relabel"
)

// rowRun is tokens of a row that follow each other, all trained on or none.
type rowRun struct {
	From, To int
	Trained  bool
	Folded   bool // long, and not trained on: closed at first
	Text     string
	Tokens   []rowToken // of what is trained on, one by one
	Span     *relabel.ExportSpan
}

// rowToken is one token.
type rowToken struct {
	ID     int32
	Weight float32
	Text   string
}

// rowBlock is a sequence of a packed row or a node of a tree row; the whole of a linear one.
type rowBlock struct {
	Title string
	Leaf  bool
	Runs  []rowRun
}

// rowView is a page of one row.
type rowView struct {
	relabel.ShownRow
	Export  relabel.Export
	View    relabel.View
	Number  int
	Blocks  []rowBlock
	Trained int
	// State and Label are those of a row of the messages view.
	State, Label   string
	Previous, Next string
}

// foldedTokens is how many masked tokens in a row are shown at once.
const foldedTokens = 200

func (v *viewer) showExportRow(w http.ResponseWriter, r *http.Request) error {
	e, err := v.exportOf(r)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(r.PathValue("row"))
	if err != nil || number < 0 {
		return relabel.Errorf(relabel.CodeNotFound, "Rows are numbered from 0.")
	}
	if e.State != relabel.ExportDone || v.Exports == nil {
		return relabel.Errorf(relabel.CodeConflict, "Rows are shown when the export is done.")
	}
	view := rowView{Export: e, View: relabel.View(r.PathValue("view")), Number: number}
	if view.ShownRow, err = v.Exports.Row(r.Context(), e, view.View, number); err != nil {
		return err
	}
	view.Blocks = blocksOf(&view.ShownRow)
	for _, s := range view.Row.Spans {
		view.Trained += s.Length
	}
	view.State, view.Label = view.Row.Messages, view.Row.Label
	address := func(n int) string { return fmt.Sprintf("/exports/%s/rows/%s/%d", e.ID, view.View, n) }
	if number > 0 {
		view.Previous = address(number - 1)
	}
	if number+1 < view.Of {
		view.Next = address(number + 1)
	}
	return v.render(w, r, page{Template: "exportrow", Title: fmt.Sprintf("Row %d of %s", number, view.View), Section: "Exports",
		Crumbs: []crumb{{"Exports", "/exports"}, {"export " + short(e.ID), "/exports/" + e.ID.String()}}, View: view})
}

// blocksOf cuts a row into its sequences or nodes, by the columns as they are stored.
func blocksOf(row *relabel.ShownRow) (blocks []rowBlock) {
	if len(row.Row.Labels) != len(row.Row.IDs) || len(row.Row.IDs) == 0 {
		return nil
	}
	add := func(title string, leaf bool, a, b int) {
		if a >= 0 && a < b && b <= len(row.Row.IDs) {
			blocks = append(blocks, rowBlock{fmt.Sprintf("%s, tokens %d to %d", title, a, b), leaf, runsOf(row, a, b)})
		}
	}
	switch {
	case len(row.Row.NodeStart) > 0 && len(row.Row.NodeKind) == len(row.Row.NodeStart) && len(row.Row.NodeParent) == len(row.Row.NodeStart):
		for i, start := range row.Row.NodeStart {
			end := len(row.Row.IDs)
			if i+1 < len(row.Row.NodeStart) {
				end = int(row.Row.NodeStart[i+1])
			}
			title := map[int32]string{relabel.TrunkNode: "trunk", relabel.LeafNode: "leaf", relabel.PaddingNode: "padding"}[row.Row.NodeKind[i]]
			if p := row.Row.NodeParent[i]; p >= 0 {
				title += fmt.Sprintf(" after node %d", p)
			}
			add(fmt.Sprintf("node %d, %s", i, title), row.Row.NodeKind[i] == relabel.LeafNode, int(start), end)
		}
	case len(row.Row.SeqStarts) > 0 && len(row.Row.SeqLengths) == len(row.Row.SeqStarts):
		for i, a := range row.Row.SeqStarts {
			add(fmt.Sprintf("sequence %d of %d", i+1, len(row.Row.SeqStarts)), false, int(a), int(a+row.Row.SeqLengths[i]))
		}
	default:
		add("row", false, 0, len(row.Row.IDs))
	}
	return blocks
}

// runsOf parts tokens by whether the stored labels train on them.
func runsOf(row *relabel.ShownRow, a, b int) (runs []rowRun) {
	trained := func(q int) bool { return row.Row.Labels[q] != relabel.Unsupervised }
	for a < b {
		end := a + 1
		for end < b && trained(end) == trained(a) {
			end++
		}
		run := rowRun{From: a, To: end, Trained: trained(a), Folded: !trained(a) && end-a > foldedTokens}
		for i := range row.Row.Spans {
			if s := &row.Row.Spans[i]; run.Trained && s.Start <= a && a < s.End() {
				run.Span = s
			}
		}
		for q := a; q < end; q++ {
			text := fmt.Sprintf("%d ", row.Row.IDs[q])
			if row.Texts != nil {
				text = row.Texts[q]
			}
			if run.Text += text; run.Trained {
				t := rowToken{ID: row.Row.IDs[q], Text: text}
				if q < len(row.Row.Weights) {
					t.Weight = row.Row.Weights[q]
				}
				run.Tokens = append(run.Tokens, t)
			}
		}
		runs, a = append(runs, run), end
	}
	return runs
}
