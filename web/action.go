package web

import (
	"fmt"
	"strings"

	"relabel"
)

// actionView is an action as a card.
type actionView struct {
	Status  relabel.ActionStatus
	Reason  string
	Parse   string // how its calls were understood, where that is unusual
	Finish  string // why the model stopped, where that is unusual
	Refusal string
	ReadAs  string // how calls and reasoning were read from the text, where the server did not
	Lacking string // what was asked of the server and did not come
	TooLong int    // bytes of a message that is too long to be laid out here
	Think   *body  // reasoning, apart from the words
	Words   *body
	Calls   []callView
	Asked   []askedView // the calls of the model that brought it
	Policy  string      // who answered, where that is neither the run's teacher nor the student
}

// limits say how much of a text is shown; the zero value shows all.
type limits struct {
	head, tail int    // bytes
	lines      int    // of an edit
	all        string // address where all of it is
}

// card is how much of each text a turn's card shows.
func card(all string) limits { return limits{headShown, tailShown, 120, all} }

// viewAction shows an action, its calls laid out and compared beforehand. words are its
// content with marks, nil without any.
func viewAction(a relabel.Action, calls []callView, words []span, l limits) actionView {
	v := actionView{Status: a.Status, Reason: a.Reason, Refusal: a.Refusal, Lacking: strings.Join(a.NotGiven, ", ")}
	if a.Parse != relabel.ParsedOK {
		v.Parse = strings.ReplaceAll(string(a.Parse), "_", " ")
	}
	if a.FinishReason != "stop" && a.FinishReason != "tool_calls" {
		v.Finish = a.FinishReason
	}
	for _, form := range a.ReadAs {
		v.ReadAs = strings.TrimPrefix(v.ReadAs+", "+string(form), ", ")
	}
	if text := a.Message.ReasoningContent; strings.TrimSpace(text) != "" {
		b := l.body(text)
		v.Think = &b
	}
	if text := a.Message.Content; words != nil {
		v.Words = &body{Head: l.spans(words)}
	} else if strings.TrimSpace(text) != "" {
		b := l.body(text)
		v.Words = &b
	}
	for _, c := range calls {
		v.Calls = append(v.Calls, c.shown(l))
	}
	return v
}

// summary is a call in one line, as plain text.
func summary(m relabel.Message) string {
	if len(m.ToolCalls) == 0 {
		return firstLine(m.Content)
	}
	c := m.ToolCalls[0]
	line := c.Name
	if fields, ok := relabel.ReadArguments(c.Arguments); ok {
		for _, f := range fields {
			if f.Name != "old_str" && f.Name != "new_str" && f.Name != "file_text" {
				line += " " + firstLine(f.Text())
			}
		}
	}
	if n := len(m.ToolCalls) - 1; n > 0 {
		line += fmt.Sprintf(" (and %d more)", n)
	}
	return firstLine(line)
}

// firstLine is a text's first line that says something, not longer than a line is wide.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	const wide = 160
	if r := []rune(s); len(s) > wide && len(r) > wide {
		s = string(r[:wide]) + "…"
	}
	return s
}
