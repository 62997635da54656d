// Package show renders what models, tools and programs wrote as HTML: actions, calls, edits,
// patches, and the differences between two actions.
package show

import (
	"fmt"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/safetext"
)

// Action is an action as a turn's card shows it.
type Action struct {
	Status  relabel.ActionStatus
	Reason  string
	Parse   string // how its calls were parsed, unless as usual
	Finish  string // why the model stopped, unless as usual
	Refusal string
	ReadAs  string // how calls and reasoning were parsed from the text, unless the server did
	Lacking string // what the server was asked for and did not return
	TooLong int    // bytes of a message too long to be laid out here
	Think   *Body  // reasoning
	Words   *Body
	Calls   []Call
	Asked   []askedView // the calls of the model that produced it
	Answer  bool        // a ranked answer, which has no call
	Policy  string      // who answered, unless the run's teacher or the student
}

// Limits bound how much of a text is shown; the zero value shows all.
type Limits struct {
	Head, tail int    // bytes
	Lines      int    // of an edit
	All        string // address of the whole text
}

// Card returns the limits of a turn's card; all is the address of the whole text.
func Card(all string) Limits { return Limits{HeadShown, TailShown, 120, all} }

// ViewAction renders an action whose calls are laid out already. words are its content with
// marks, nil without any.
func ViewAction(a relabel.Action, calls []Call, words []Span, l Limits) Action {
	v := Action{Status: a.Status, Reason: a.Reason, Refusal: a.Refusal, Lacking: strings.Join(a.NotGiven, ", ")}
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
		v.Think = new(l.Body(text))
	}
	if text := a.Message.Content; words != nil {
		v.Words = &Body{Head: l.spans(words)}
	} else if strings.TrimSpace(text) != "" {
		v.Words = new(l.Body(text))
	}
	for _, c := range calls {
		v.Calls = append(v.Calls, c.shown(l))
	}
	return v
}

// Summary describes an action in one line of plain text.
func Summary(m relabel.Message) string {
	if len(m.ToolCalls) == 0 {
		return firstLine(m.Content)
	}
	c := m.ToolCalls[0]
	line := c.Name
	if fields, ok := chat.ReadArguments(c.Arguments); ok {
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

// firstLine is the first line of a text that is not blank, cut to one line of a page.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	const wide = 160
	if r := []rune(s); len(s) > wide && len(r) > wide {
		s = string(r[:wide]) + "…"
	}
	return s
}

// Asked is a call of a model in one line.
type askedView struct {
	Model, Line string
	Sampling    string // the settings that were sent; "" if they were not recorded
	Troubled    bool   // it was retried or failed
	Error       string
}

// ViewAsked describes the cost and result of a call.
func ViewAsked(c relabel.Call) askedView {
	v := askedView{Model: c.Model, Error: c.Error, Troubled: c.Tries > 1 || c.Error != ""}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.Usage != nil {
		add("%d + %d tokens", c.Usage.PromptTokens, c.Usage.CompletionTokens)
		if c.Usage.CachedTokens > 0 {
			add("%d of them cached", c.Usage.CachedTokens)
		}
	}
	add("%s", Duration(c.Millis))
	if c.QueueMillis >= 10 {
		add("%s in the queue", Duration(c.QueueMillis))
	}
	if c.FinishReason != "" {
		add("ended by %s", safetext.Plain(c.FinishReason))
	}
	if c.Tries != 1 {
		add("%d tries", c.Tries)
	}
	if c.Status != 200 && c.Status != 0 {
		add("status %d", c.Status)
	}
	if c.Hedged {
		add("two replicas asked")
	}
	if c.CostMicros != nil {
		add("cost %.4f", float64(*c.CostMicros)/1e6)
	}
	if c.Sampling != nil {
		v.Sampling = c.Sampling.String()
	}
	v.Line = strings.Join(parts, " · ")
	return v
}
