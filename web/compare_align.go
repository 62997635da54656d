package web

import (
	"context"
	"crypto/sha256"

	"znkr.io/diff"

	"relabel"
	"relabel/chat"
	"relabel/web/show"
)

// doneAt is the action of one side at a turn.
type doneAt struct {
	Line  string // in one line
	known bool   // its message was read
	key   string // the same if the same is done
}

// actionsOf returns a line and a hash of the action at each turn; without read, only the names of
// its tools.
func (v *viewer) actionsOf(ctx context.Context, t trajectoryView, read bool) ([]doneAt, error) {
	all := make([]doneAt, len(t.Heads))
	for i, h := range t.Heads {
		all[i].Line = h.Tools
	}
	if !read {
		return all, nil
	}
	return all, v.Store.EachAction(ctx, t.ID, t.Shown, func(n int, m *relabel.Message) error {
		if m != nil && n <= len(all) {
			sum := sha256.Sum256([]byte(chat.ActionKey(*m)))
			all[n-1] = doneAt{show.Summary(*m), true, string(sum[:])}
		}
		return nil
	})
}

// align pairs the turns of both, from 1, or 0 for none. Equal actions in the same order share a
// row; the turns between them are paired from the first.
func align(a, b []doneAt) (pairs [][2]int) {
	i, j := 0, 0
	together := func(endA, endB int) {
		for i < endA || j < endB {
			var p [2]int
			if i < endA {
				i++
				p[0] = i
			}
			if j < endB {
				j++
				p[1] = j
			}
			pairs = append(pairs, p)
		}
	}
	for _, h := range diff.Hunks(doneKeys(a), doneKeys(b), diff.Context(0)) {
		together(h.PosX, h.PosY)
		together(h.EndX, h.EndY)
	}
	together(len(a), len(b))
	return pairs
}

func doneKeys(all []doneAt) []string {
	keys := make([]string, len(all))
	for i, d := range all {
		keys[i] = d.key
	}
	return keys
}

// pairRow is a row of the comparison: a turn of both sides or of one.
type pairRow struct {
	N          int
	A, B       *pairHalf // nil: that side has no turn here
	Class      string
	Sign, Word string
	Loaded     *pairView
}

// pairHalf is a side's turn without its texts.
type pairHalf struct {
	show.Head
	Line string
	Link string
}

// row renders a pair of turns, and records the first difference.
func (v *compareView) row(p [2]int, a, b []doneAt) pairRow {
	row := pairRow{N: len(v.Rows) + 1, A: v.A.half(p[0], a), B: v.B.half(p[1], b)}
	switch {
	case row.A == nil:
		row.Class, row.Sign, row.Word = "different", "▲", "only B"
	case row.B == nil:
		row.Class, row.Sign, row.Word = "different", "▲", "only A"
	case !a[p[0]-1].known || !b[p[1]-1].known:
		row.Class, row.Sign, row.Word = "pending", "?", "too long to compare"
	case a[p[0]-1].key == b[p[1]-1].key:
		row.Class, row.Sign, row.Word = "equal", "✓", "same"
		v.Same++
	default:
		row.Class, row.Sign, row.Word = "different", "▲", "different"
	}
	if row.Class == "different" && v.Parts == 0 {
		v.Parts = row.N
	}
	return row
}

func (s compareSide) half(t int, done []doneAt) *pairHalf {
	if t == 0 {
		return nil
	}
	return &pairHalf{s.Heads[t-1], done[t-1].Line, s.Base() + "#t" + s.Heads[t-1].Number()}
}

// Key identifies the row in requests for its texts.
func (p pairRow) Key() string { return p.A.number() + "-" + p.B.number() }

func (h *pairHalf) number() string {
	if h == nil {
		return "0"
	}
	return h.Number()
}

// Title is the tooltip of a row's cell.
func (p pairRow) Title() string {
	title := p.Word
	for _, h := range []*pairHalf{p.A, p.B} {
		if h != nil {
			title += "; " + h.Line
		}
	}
	return title
}
