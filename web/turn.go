package web

import (
	"fmt"
	"html/template"
	"strings"

	"relabel"
	"relabel/safetext"
)

// turnView is a turn as a card shows it.
type turnView struct {
	headView
	Base         string // the trajectory's address
	Query        string // "?attempt=N" of an earlier attempt
	State        string // address of st
	Summary      string // what was done, in one line
	Action       actionView
	Label        *actionView // beside a student's action
	Coarse       bool        // label and action were too long to be compared word by word
	Others       []actionView
	Observations []observationView
	File         bool // it stands in a file, where links to the server lead nowhere
}

// Raw is the address of one text of the turn as it is: "action", "label" or the number of
// an observation.
func (v turnView) Raw(of any) string {
	return fmt.Sprintf("%s/turns/%d/raw?of=%v%s", v.Base, v.T, of, strings.Replace(v.Query, "?", "&", 1))
}

// observationView is what the environment answered to one call.
type observationView struct {
	Tool   string
	Took   string
	Exit   string // the exit code, "" where there is none
	Failed bool
	Size   string
	Body   body
	Diff   template.HTML // where it is one
}

// agreement says how a student's action stands to its label.
type agreement struct{ Class, Sign, Word string }

// agreementOf says it from a turn's head. A teacher's turn, and one of an evaluation, have
// nothing to compare.
func agreementOf(h relabel.TurnHead) agreement {
	switch {
	case h.Executor == relabel.Teacher || h.Label == "":
		return agreement{}
	case h.Label == relabel.Missing:
		return agreement{"missing", "!", "label missing"}
	case h.Label == relabel.Owed:
		return agreement{"owed", "?", "label still asked for"}
	case h.Agrees != nil && *h.Agrees:
		return agreement{"equal", "✓", "label equal"}
	}
	return agreement{"different", "▲", "label different"}
}

// viewTurn shows a turn, its action and label compared.
func (p trajectoryView) viewTurn(e relabel.TurnExcerpt, h headView, l limits) turnView {
	v := turnView{headView: h, Base: p.Base(), Query: p.Query(), Summary: summary(e.Action.Message), State: fmt.Sprintf("%s/states/%d", p.API(), e.T)}
	calls := layOutAll(e.Action.Message.ToolCalls)
	var words []span
	if e.Label != nil && e.Executor == relabel.Student {
		var theirs []callView
		var said []span
		if e.Label.Status == relabel.Had && e.ActionBytes+e.LabelBytes == 0 {
			d := compareActions(e.Action.Message, e.Label.Message)
			calls, theirs, words, said, v.Coarse = d.A, d.B, d.WordsA, d.WordsB, d.Coarse
			v.Agreement.Word = d.label()
		}
		label := viewAction(*e.Label, theirs, said, l)
		label.TooLong = e.LabelBytes
		v.Label = &label
	}
	v.Action = viewAction(e.Action, calls, words, l)
	v.Action.TooLong = e.ActionBytes
	for _, o := range e.Others {
		other := viewAction(o, layOutAll(o.Message.ToolCalls), nil, l)
		other.Policy = p.names[o.PolicyID]
		v.Others = append(v.Others, other)
	}
	for k := range e.Observations {
		v.Observations = append(v.Observations, viewObservation(e, k, l))
	}
	return v
}

// label says how the label differs, as the head of a turn does.
func (d difference) label() string {
	if d.Kind == doesSame {
		return "label equal"
	}
	return "label: " + d.Word()
}

func viewObservation(e relabel.TurnExcerpt, k int, l limits) observationView {
	o := e.Observations[k]
	v := observationView{Tool: o.Tool, Took: duration(o.Millis), Failed: o.Failed, Size: size(e.Lengths[k])}
	if o.ExitCode != nil {
		v.Exit = fmt.Sprint(*o.ExitCode)
	}
	switch {
	case e.Tails[k] == "" && looksLikePatch(o.Content):
		v.Diff = l.diff(patchLines(o.Content))
	case l.head == 0:
		v.Body = wholeBody(o.Content)
	default:
		v.Body = endsOf(o.Content, e.Tails[k], e.Lengths[k], l.all)
	}
	return v
}

// wholeExcerpt is a turn of which nothing is cut.
func wholeExcerpt(turn relabel.Turn) relabel.TurnExcerpt {
	e := relabel.TurnExcerpt{Turn: turn, Tails: make([]string, len(turn.Observations))}
	for _, o := range turn.Observations {
		e.Lengths = append(e.Lengths, len(o.Content))
	}
	return e
}

// askedView is a call of a model as a line.
type askedView struct {
	Model, Line string
	Troubled    bool // it was tried again, or came to nothing
	Error       string
}

// viewAsked writes what a call cost and how it went.
func viewAsked(c relabel.Call) askedView {
	v := askedView{Model: c.Model, Error: c.Error, Troubled: c.Tries > 1 || c.Error != ""}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.Usage != nil {
		add("%d + %d tokens", c.Usage.PromptTokens, c.Usage.CompletionTokens)
		if c.Usage.CachedTokens > 0 {
			add("%d of them cached", c.Usage.CachedTokens)
		}
	}
	add("%s", duration(c.Millis))
	if c.QueueMillis >= 10 {
		add("%s in the queue", duration(c.QueueMillis))
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
	v.Line = strings.Join(parts, " · ")
	return v
}
