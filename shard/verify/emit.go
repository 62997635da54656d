package verify

import (
	"math"

	"relabel"
)

// emit receives a fact of a row and the token at which it was found.
type emit func(class class, f fact, token int)

// facts passes the facts of a row of a token view to emit.
func (c *check) facts(row *relabel.ExportRow, bare bool, emit emit) {
	w := factFinder{check: c, row: row, bare: bare, emit: emit}
	switch {
	case len(row.SubtreeEnd) > 0:
		w.tree()
	case len(row.SeqLengths) > 0:
		for i, a := range row.SeqStarts {
			w.run(int(a), int(a+row.SeqLengths[i]))
		}
	default:
		w.run(0, len(row.IDs))
	}
}

// factFinder finds the facts of a row, token by token.
type factFinder struct {
	*check
	row  *relabel.ExportRow
	bare bool
	emit emit

	length  int  // of a bare row's label so far
	span    int  // number of the current span
	weights text // of the span's tokens so far
}

// run processes a sequence, whose tokens see all earlier tokens of it.
func (w *factFinder) run(a, b int) {
	var seen text
	for q := a; q < b; q++ {
		then := w.hash.then(seen, uint32(w.row.IDs[q]))
		if w.row.Labels[q] != relabel.Unsupervised {
			w.token(q, seen, then)
		}
		seen = then
	}
}

// tree processes a row of trees: a token sees the earlier tokens whose subtree contains it.
func (w *factFinder) tree() {
	type above struct {
		end  int32
		seen text // up to the last token with that end
	}
	stack := []above{{math.MaxInt32, text{}}}
	for q, end := range w.row.SubtreeEnd {
		for stack[len(stack)-1].end <= int32(q) {
			stack = stack[:len(stack)-1]
		}
		seen := stack[len(stack)-1].seen
		then := w.hash.then(seen, uint32(w.row.IDs[q]))
		if w.row.Labels[q] != relabel.Unsupervised {
			w.token(q, seen, then)
		}
		if stack[len(stack)-1].end == end {
			stack[len(stack)-1].seen = then
		} else {
			stack = append(stack, above{end, then})
		}
	}
}

// token finds the facts of the supervised token q. seen is the hash of its prefix, then the hash
// of the prefix and the token.
func (w *factFinder) token(q int, seen, then text) {
	label := w.hash.then(seen, uint32(w.row.Labels[q]))
	if w.bare {
		weight := float32(1)
		if len(w.row.Weights) > 0 { // of token lines
			weight = w.row.Weights[q]
		}
		one := w.hash.fact(w.hash.then(label, math.Float32bits(weight)))
		w.emit(rendered, one, q)
		w.emit(anyToken, one, q)
		if w.length++; q+1 == len(w.row.Labels) || w.row.Labels[q+1] == relabel.Unsupervised {
			w.emit(runs, w.hash.fact(w.hash.then(then, uint32(w.length))), q)
			w.length = 0
		}
		return
	}
	for q >= w.row.Spans[w.span].End() {
		w.span++
	}
	s := &w.row.Spans[w.span]
	weight := math.Float32bits(w.row.Weights[q])
	kind := rendered
	if s.IDs == "served" {
		kind = served
	}
	one := w.hash.fact(w.hash.then(label, weight))
	w.emit(kind, one, q)
	w.emit(anyToken, one, q)
	w.weights = w.hash.then(w.weights, weight)
	if q+1 == s.End() {
		w.label(q, s, then)
	}
}

// label finds the facts of a label at its last token. all is the hash of its prefix and ids.
func (w *factFinder) label(q int, s *relabel.ExportSpan, all text) {
	whose := w.whose(s.Trajectory, s.Turn)
	w.emit(weights, w.hash.fact(w.hash.thenText(whose, w.weights)), q)
	w.emit(runs, w.hash.fact(w.hash.then(all, uint32(s.Length))), q)
	pair := w.hash.thenText(w.hash.thenText(whose, all), w.weights)
	if s.IDs != "served" {
		w.emit(pairs, w.hash.fact(pair), q)
	}
	whole := w.hash.thenString(w.hash.thenString(pair, s.Kind), s.IDs)
	whole = w.hash.then(w.hash.then(whole, uint32(s.Iteration)), uint32(s.Length))
	if s.Beta != nil {
		whole = w.hash.then(whole, math.Float32bits(*s.Beta))
	}
	if w.manifest.Recipe.OnPolicy() {
		whole = w.signals(whole, s)
	}
	w.emit(labels, w.hash.fact(whole), q)
	w.weights = text{}
}

// signals adds the values behind the weights of the student's own action to a hash.
func (w *factFinder) signals(to text, s *relabel.ExportSpan) text {
	for _, signal := range [][]float32{w.row.TeacherLogprobs, w.row.StudentLogprobs, w.row.Advantages} {
		if len(signal) == 0 {
			continue
		}
		for _, v := range signal[s.Start:s.End()] {
			to = w.hash.then(to, math.Float32bits(v))
		}
	}
	to = w.hash.thenString(to, s.Group)
	if s.Reward != nil {
		to = w.hash.then(to, math.Float32bits(*s.Reward))
	}
	return to
}

// whose hashes the trajectory and turn of a label.
func (c *check) whose(trajectory string, turn int) text {
	return c.hash.then(c.hash.thenString(text{}, trajectory), uint32(turn))
}
