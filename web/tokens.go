package web

import (
	"fmt"
	"strings"

	"relabel"
)

// foldedTokens is the number of consecutive masked tokens above which they are folded.
const foldedTokens = 200

// rowBlock is a sequence of a packed row or a node of a tree row; the whole of a linear one.
type rowBlock struct {
	Kind     string // trunk, leaf, padding, sequence or row
	Number   int    // of its kind in the row: of all nodes, of all sequences
	Parent   int    // the node that it comes after; -1: none
	Root     int    // the node that its tree begins with
	From, To int
	Labels   []relabel.ExportSpan // that stand in it
	Runs     []rowRun
}

// rowRun is consecutive tokens of a row, all trained on or all masked.
type rowRun struct {
	From, To int
	Trained  bool
	Folded   bool // long, and not trained on: closed at first
	Text     string
	Tokens   []rowToken // of what is trained on, one by one
	Weights  string     // what they weigh, "" if no weights are stored
	Span     *relabel.ExportSpan
}

type rowToken struct {
	Title, Text string
	Level       string // class of its weight beside the row's largest
}

// Title describes the block.
func (b rowBlock) Title() string {
	title := b.Kind
	switch b.Kind {
	case "row":
	case "sequence":
		title = fmt.Sprintf("sequence %d", b.Number+1)
	default:
		title = fmt.Sprintf("node %d, %s", b.Number, b.Kind)
		if b.Parent >= 0 {
			title += fmt.Sprintf(" after node %d", b.Parent)
		}
	}
	return fmt.Sprintf("%s, tokens %d to %d", title, b.From, b.To)
}

// Length is its number of tokens.
func (b rowBlock) Length() int { return b.To - b.From }

// Trained is the number of tokens of its labels.
func (b rowBlock) Trained() (n int) {
	for _, s := range b.Labels {
		n += s.Length
	}
	return n
}

// Leaf reports whether it is a leaf of a tree.
func (b rowBlock) Leaf() bool { return b.Kind == "leaf" }

// Length is its number of tokens.
func (r rowRun) Length() int { return r.To - r.From }

// blocksOf cuts a row into its sequences or nodes, by the columns as they are stored.
func blocksOf(row *relabel.ExportRow) (blocks []rowBlock) {
	if len(row.Labels) != len(row.IDs) || len(row.IDs) == 0 {
		return nil
	}
	switch {
	case len(row.NodeStart) > 0 && len(row.NodeKind) == len(row.NodeStart) && len(row.NodeParent) == len(row.NodeStart):
		blocks = nodesOf(row)
	case len(row.SeqStarts) > 0 && len(row.SeqLengths) == len(row.SeqStarts):
		for i, a := range row.SeqStarts {
			blocks = append(blocks, rowBlock{Kind: "sequence", Number: i, Parent: -1, Root: i, From: int(a), To: int(a + row.SeqLengths[i])})
		}
	default:
		blocks = []rowBlock{{Kind: "row", Parent: -1, To: len(row.IDs)}}
	}
	for i := range blocks {
		b := &blocks[i]
		b.From, b.To = max(0, b.From), min(b.To, len(row.IDs)) // whoever wrote the file
		for _, s := range row.Spans {
			if b.From <= s.Start && s.Start < b.To {
				b.Labels = append(b.Labels, s)
			}
		}
	}
	return blocks
}

// nodesOf are the nodes of a tree row.
func nodesOf(row *relabel.ExportRow) (blocks []rowBlock) {
	kinds := map[int32]string{relabel.TrunkNode: "trunk", relabel.LeafNode: "leaf", relabel.PaddingNode: "padding"}
	for i, start := range row.NodeStart {
		b := rowBlock{Kind: kinds[row.NodeKind[i]], Number: i, Parent: int(row.NodeParent[i]), Root: i, From: int(start), To: len(row.IDs)}
		if i+1 < len(row.NodeStart) {
			b.To = int(row.NodeStart[i+1])
		}
		if b.Parent >= 0 && b.Parent < i {
			b.Root = blocks[b.Parent].Root
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// ofTrajectory keeps the sequences with a label of a trajectory, and the trees with one.
func ofTrajectory(blocks []rowBlock, trajectory string) (kept []rowBlock) {
	its := map[int]bool{}
	for _, b := range blocks {
		for _, s := range b.Labels {
			its[b.Root] = its[b.Root] || s.Trajectory == trajectory
		}
	}
	for _, b := range blocks {
		if its[b.Root] || b.Kind == "row" {
			kept = append(kept, b)
		}
	}
	return kept
}

// addRuns adds the tokens of each block.
func addRuns(blocks []rowBlock, row *relabel.ShownRow) {
	largest := float32(0)
	for _, w := range row.Row.Weights {
		largest = max(largest, w)
	}
	for i := range blocks {
		blocks[i].Runs = runsOf(row, blocks[i], largest)
	}
}

// runsOf splits a block into trained and masked runs.
func runsOf(row *relabel.ShownRow, b rowBlock, largest float32) (runs []rowRun) {
	trained := func(q int) bool { return row.Row.Labels[q] != relabel.Unsupervised }
	span := func(q int) int {
		for i, s := range b.Labels {
			if s.Start <= q && q < s.End() {
				return i
			}
		}
		return -1
	}
	for a := b.From; a < b.To; {
		end, at := a+1, span(a)
		for end < b.To && trained(end) == trained(a) && (!trained(a) || at < 0 || end < b.Labels[at].End()) {
			end++
		}
		run := rowRun{From: a, To: end, Trained: trained(a), Folded: !trained(a) && end-a > foldedTokens}
		if run.Trained && at >= 0 {
			run.Span = &b.Labels[at]
		}
		run.read(row, largest)
		runs, a = append(runs, run), end
	}
	return runs
}

func (r *rowRun) read(row *relabel.ShownRow, largest float32) {
	weighted := len(row.Row.Weights) == len(row.Row.IDs)
	if r.Trained && weighted {
		least, most := row.Row.Weights[r.From], row.Row.Weights[r.From]
		for _, w := range row.Row.Weights[r.From:r.To] {
			least, most = min(least, w), max(most, w)
		}
		if r.Weights = fmt.Sprintf("weight %v each", least); least != most {
			r.Weights = fmt.Sprintf("weights %v to %v", least, most)
		}
	}
	var whole strings.Builder
	for q := r.From; q < r.To; q++ {
		text := fmt.Sprintf("%d ", row.Row.IDs[q])
		if row.Texts != nil {
			text = row.Texts[q]
		}
		if whole.WriteString(text); !r.Trained {
			continue
		}
		t := rowToken{Title: fmt.Sprintf("token %d, id %d", q, row.Row.IDs[q]), Text: text}
		if weighted {
			t.Title += fmt.Sprintf(", weight %v", row.Row.Weights[q])
			t.Level = weightLevel(row.Row.Weights[q], largest)
		}
		r.Tokens = append(r.Tokens, t)
	}
	r.Text = whole.String()
}

// weightLevel is the class of a weight: w0 for zero, w1 to w4 by quarters of the row's largest.
func weightLevel(w, largest float32) string {
	switch {
	case !(w > 0):
		return "w0"
	case w <= largest/4:
		return "w1"
	case w <= largest/2:
		return "w2"
	case w <= largest*3/4:
		return "w3"
	}
	return "w4"
}
