package web

import (
	"fmt"
	"strings"

	"relabel"
)

// trace is a small ribbon with one SVG path per kind of turn. A cell is 10 by 12: a square for the
// teacher, a circle for an equal label, a triangle for a different one, a dash for none.
type trace struct {
	Turns, Wide             int // Wide of all of it, as drawn, in pixels
	Teacher, Same, Off, Due string
	Words                   string
}

// widestTrace is the largest width of a trace in pixels.
const widestTrace = 180

func traceOf(r relabel.Ribbon) trace {
	c := trace{Turns: len(r), Wide: min(9*len(r), widestTrace)}
	var teacher, same, off, due strings.Builder
	counts := map[rune]int{}
	for i, mark := range string(r) {
		x := 10 * i
		counts[mark]++
		switch mark {
		case 'T':
			fmt.Fprintf(&teacher, "M%d 1h9v10h-9z", x)
		case 'a':
			fmt.Fprintf(&same, "M%d 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", x)
		case 'd':
			fmt.Fprintf(&off, "M%d 11h9l-4.5-10z", x)
		default:
			fmt.Fprintf(&due, "M%d 5h7v2h-7z", x+1)
		}
	}
	c.Teacher, c.Same, c.Off, c.Due = teacher.String(), same.String(), off.String(), due.String()
	c.Words = fmt.Sprintf("%d turns: %d by the teacher", c.Turns, counts['T'])
	for _, part := range []struct {
		mark rune
		says string
	}{{'a', "by the student with an equal label"}, {'d', "with a different label"}, {'s', "without a label to compare"}} {
		if n := counts[part.mark]; n > 0 {
			c.Words += fmt.Sprintf(", %d %s", n, part.says)
		}
	}
	if first := strings.IndexByte(string(r), 'd'); first >= 0 {
		c.Words += fmt.Sprintf("; first at turn %d", first+1)
	}
	return c
}

// Across is the width of its view box.
func (c trace) Across() int { return 10 * c.Turns }
