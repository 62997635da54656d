package web

import (
	"fmt"
	"strconv"
	"strings"

	"relabel"
)

// headView is what is known of a turn without its texts: its cell in the ribbon, and the
// head of its card.
type headView struct {
	T, Of     int
	Executor  relabel.Role
	Agreement agreement
	Figures   string // in one line
	Tools     string
	Trouble   string // what went wrong in it
	Why       string // its label is missing
	Class     string
	Height    int // about how high its card is, in steps of ten lines
	Bytes     int // of the executed action's message
}

// Number is t as a text.
func (h headView) Number() string { return strconv.Itoa(h.T) }

// viewHead shows a turn's head.
func viewHead(h relabel.TurnHead, of int) headView {
	v := headView{T: h.T, Of: of, Executor: h.Executor, Agreement: agreementOf(h), Tools: strings.Join(h.Tools, ", "), Why: h.LabelReason, Trouble: trouble(h), Bytes: h.ActionBytes}
	v.Class = strings.TrimSpace(string(h.Executor) + " " + v.Agreement.Class)
	parts := []string{duration(h.EndedAt.Sub(h.StartedAt).Milliseconds())}
	if h.Usage != nil {
		parts = append(parts, fmt.Sprintf("%d + %d tokens", h.Usage.PromptTokens, h.Usage.CompletionTokens))
	}
	if h.OutputBytes > 0 {
		parts = append(parts, size(int(h.OutputBytes))+" of output")
	}
	v.Figures = strings.Join(parts, " · ")
	text := min(max(h.ActionBytes, h.LabelBytes), 4000)/60 + min(int(h.OutputBytes), 1200)/60
	v.Height = min(1+text/10, 9)
	return v
}

// trouble says what of a turn went wrong.
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

// Title says of a turn what its cell cannot.
func (h headView) Title() string {
	parts := []string{fmt.Sprintf("turn %d: %s", h.T, h.Executor)}
	for _, more := range []string{h.Agreement.Word, h.Why, h.Tools, h.Trouble, h.Figures} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, ", ")
}

// course says where student and teacher part and meet again.
type course struct {
	Compared, Agreed int
	First            int // first turn whose label differs; 0 for none
	Recovered        int // first turn after it from where on all labels agree; 0 where there is none
	Missing          int // first turn without a label
	Trouble          int // last turn whose tool failed, or whose calls were not understood; 0 for none
	Troubled         string
}

// courseOf goes along the heads. A recovery is said only where at least two turns agree.
func courseOf(heads []relabel.TurnHead) (c course) {
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
