package show

import (
	"fmt"
	"strconv"
	"strings"

	"relabel"
)

// Head is a turn without its texts: its cell in the ribbon and the head of its card.
type Head struct {
	T, Of     int
	Executor  relabel.Role
	Agreement agreement
	Figures   string // in one line
	Tools     string
	Trouble   string // what failed in it
	Why       string // its label is missing
	Class     string
	Height    int // estimated height of its card, in steps of ten lines
	Bytes     int // of the executed action's message
}

// Number returns the turn's number as text.
func (h Head) Number() string { return strconv.Itoa(h.T) }

// ViewHead renders the head of a turn of a trajectory with of turns.
func ViewHead(h relabel.TurnHead, of int) Head {
	v := Head{T: h.T, Of: of, Executor: h.Executor, Agreement: agreementOf(h), Tools: strings.Join(h.Tools, ", "), Why: h.LabelReason, Trouble: trouble(h), Bytes: h.ActionBytes}
	v.Class = strings.TrimSpace(string(h.Executor) + " " + v.Agreement.Class)
	parts := []string{Duration(h.EndedAt.Sub(h.StartedAt).Milliseconds())}
	if h.Usage != nil {
		parts = append(parts, fmt.Sprintf("%d + %d tokens", h.Usage.PromptTokens, h.Usage.CompletionTokens))
	}
	if h.OutputBytes > 0 {
		parts = append(parts, Size(int(h.OutputBytes))+" of output")
	}
	v.Figures = strings.Join(parts, " · ")
	text := min(max(h.ActionBytes, h.LabelBytes), 4000)/60 + min(int(h.OutputBytes), 1200)/60
	v.Height = min(1+text/10, 9)
	return v
}

// trouble describes what failed in a turn, "" if nothing did.
func trouble(h relabel.TurnHead) string {
	var all []string
	if h.Parse != relabel.ParsedOK && h.Parse != "" && h.Parse != relabel.NoCall {
		all = append(all, strings.ReplaceAll(string(h.Parse), "_", " "))
	}
	if h.Failed > 0 {
		all = append(all, "the tool failed")
	}
	if h.ExitCode != nil {
		all = append(all, fmt.Sprintf("exit %d", *h.ExitCode))
	}
	return strings.Join(all, ", ")
}

// Title describes the turn for the tooltip of its cell.
func (h Head) Title() string {
	parts := []string{fmt.Sprintf("turn %d: %s", h.T, h.Executor)}
	for _, more := range []string{h.Agreement.Word, h.Why, h.Tools, h.Trouble, h.Figures} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, ", ")
}

// agreement compares a student's action with its label, in a class, a sign and a word.
type agreement struct{ Class, Sign, Word string }

// agreementOf is empty for turns of the teacher and of evaluations: they have nothing to compare.
func agreementOf(h relabel.TurnHead) agreement {
	switch {
	case h.Executor == relabel.Teacher || h.Label == "":
		return agreement{}
	case h.Label == relabel.Missing:
		return agreement{"missing", "!", "label missing"}
	case h.Label == relabel.NotSelected:
		return agreement{"unselected", "·", "label not selected"}
	case h.Label == relabel.Pending:
		return agreement{"pending", "?", "label pending"}
	case h.Agrees != nil && *h.Agrees:
		return agreement{"equal", "✓", "label equal"}
	}
	return agreement{"different", "▲", "label different"}
}

// Course summarizes agreement along a trajectory.
type Course struct {
	Compared, Agreed int
	First            int // first turn whose label differs; 0 for none
	Recovered        int // first turn after it from which on all labels agree; 0 for none
	Missing          int // first turn without a label
	Trouble          int // last turn with a failed tool or unparsed calls; 0 for none
	Troubled         string
}

// CourseOf summarizes the turns. A recovery needs at least two agreeing turns.
func CourseOf(heads []relabel.TurnHead) (c Course) {
	since := 0
	for _, h := range heads {
		if h.Failed > 0 || h.Parse != relabel.ParsedOK && h.Parse != "" {
			c.Trouble, c.Troubled = h.T, trouble(h)
		}
		switch a := agreementOf(h); a.Class {
		case "equal":
			c.Compared++
			c.Agreed++
			if since++; c.First > 0 && c.Recovered == 0 {
				c.Recovered = h.T
			}
		case "different":
			c.Compared++
			since, c.Recovered = 0, 0
			if c.First == 0 {
				c.First = h.T
			}
		case "missing":
			if c.Missing == 0 {
				c.Missing = h.T
			}
		}
	}
	if since < 2 {
		c.Recovered = 0
	}
	return c
}
