package judge

import (
	"bytes"

	"relabel"
)

// textLimits are the lengths in bytes to which texts are shortened, one after the other, until the record
// fits; 0: whole texts.
var textLimits = []int{0, 4000, 1000}

// Shown is a record as text, with what it does not show.
type Shown struct {
	Text       string
	From, To   int // the hidden turns; From is greater if all are shown
	Shortened  int // texts whose middle is omitted
	Gold       bool
	Submitted  bool
	TurnsTotal int
}

// Hidden is the number of turns that are not shown.
func (s Shown) Hidden() int { return s.To - s.From + 1 }

// Render renders a record in at most limit bytes. It shortens long texts first, then it hides turns from the
// middle. CodeContextOverflow if not even the first and the last turn fit.
func Render(r Record, limit int) (Shown, error) {
	shown := Shown{Gold: r.Gold && r.Evidence.GoldPatch != "", Submitted: submitted(r.Evidence.Trajectory), TurnsTotal: len(r.Turns), From: 1}
	limit -= len(framed(r, nil))
	for _, most := range textLimits {
		w := writer{limit: most}
		lines := w.head(r)
		for _, t := range r.Turns {
			lines = append(lines, w.turn(t)...)
		}
		if len(lines) <= limit {
			shown.Text, shown.Shortened = framed(r, lines), w.shortened
			return shown, nil
		}
	}
	return shown.withoutMiddle(r, limit)
}

// withoutMiddle shows as many turns as fit, in turns from the end and from the beginning.
func (s Shown) withoutMiddle(r Record, limit int) (Shown, error) {
	w := writer{limit: textLimits[len(textLimits)-1]}
	head := w.head(r)
	n := len(r.Turns)
	left := limit - len(head) - len(hidden(n, n))
	var first, last [][]byte
	for len(first)+len(last) < n {
		trial := writer{limit: w.limit}
		fromEnd := len(last) <= len(first)
		at := len(first)
		if fromEnd {
			at = n - 1 - len(last)
		}
		next := trial.turn(r.Turns[at])
		if left -= len(next); left < 0 {
			break
		}
		w.shortened += trial.shortened
		if fromEnd {
			last = append([][]byte{next}, last...)
		} else {
			first = append(first, next)
		}
	}
	if left < 0 && (len(first) == 0 || len(last) == 0) {
		return s, relabel.Errorf(relabel.CodeContextOverflow, "not even the first and the last of %d turns fit", n)
	}
	s.From, s.To, s.Shortened = len(first)+1, n-len(last), w.shortened
	lines := append(head, bytes.Join(first, nil)...)
	lines = append(append(lines, hidden(s.From, s.To)...), bytes.Join(last, nil)...)
	s.Text = framed(r, lines)
	return s, nil
}
