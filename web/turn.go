package web

import (
	"fmt"
	"html/template"
	"strings"

	"relabel"
	"relabel/web/show"
)

type turnView struct {
	show.Head
	Base         string // the trajectory's address
	Query        string // "?attempt=N" of an earlier attempt
	State        string // address of st
	Summary      string // of the action, in one line
	Action       show.Action
	Answer       bool         // the ranked answer to a task to localise
	Label        *show.Action // beside a student's action
	Coarse       bool         // label and action are too long to compare word by word
	Others       []show.Action
	Observations []observationView
	File         bool // it is part of a file, without links to the server
}

// Raw is the address of one text of the turn: "action", "label" or the number of an
// observation.
func (v turnView) Raw(of any) string {
	return fmt.Sprintf("%s/turns/%d/raw?of=%v%s", v.Base, v.T, of, strings.Replace(v.Query, "?", "&", 1))
}

type observationView struct {
	Tool   string
	Took   string
	Exit   string // the exit code, "" if there is none
	Failed bool
	Size   string
	Body   show.Body
	Diff   template.HTML // instead of Body if the text is a patch
}

func (p trajectoryView) viewTurn(e relabel.TurnExcerpt, h show.Head, l show.Limits) turnView {
	calls := show.LayOut(e.Action.Message.ToolCalls)
	var words []show.Span
	var label *show.Action
	var d show.Difference
	if e.Label != nil && e.Executor == relabel.Student {
		var theirs []show.Call
		if e.Label.Status == relabel.Received && e.ActionBytes+e.LabelBytes == 0 {
			d = show.Compare(e.Action.Message, e.Label.Message)
			calls, theirs, words = d.A, d.B, d.WordsA
			h.Agreement.Word = d.Label()
		}
		label = new(show.ViewAction(*e.Label, theirs, d.WordsB, l))
		label.TooLong = e.LabelBytes
	}
	v := executed(e, h, p.Base(), calls, words, l)
	v.Label, v.Coarse = label, d.Coarse
	if p.answer() == e.T {
		v.Answer, v.Action.Answer = true, true
	}
	v.Query, v.Summary, v.State = p.Query(), show.Summary(e.Action.Message), fmt.Sprintf("%s/states/%d", p.API(), e.T)
	for _, o := range e.Others {
		v.Others = append(v.Others, show.ViewAction(o, show.LayOut(o.Message.ToolCalls), nil, l))
	}
	return v
}

// executed is a turn with its executed action and the observations alone. words are marks in the
// action's content, nil without any.
func executed(e relabel.TurnExcerpt, h show.Head, base string, calls []show.Call, words []show.Span, l show.Limits) turnView {
	v := turnView{Head: h, Base: base, Action: show.ViewAction(e.Action, calls, words, l)}
	v.Action.TooLong = e.ActionBytes
	for k := range e.Observations {
		v.Observations = append(v.Observations, viewObservation(e, k, l))
	}
	return v
}

// readsCode are the tools that answer with code, each line after its number and a tab.
var readsCode = map[string]bool{"GetImportOfFile": true, "SearchClass": true, "SearchFunction": true, "SearchClassMethod": true}

func viewObservation(e relabel.TurnExcerpt, k int, l show.Limits) observationView {
	o := e.Observations[k]
	v := observationView{Tool: o.Tool, Took: show.Duration(o.Millis), Failed: o.Failed, Size: show.Size(e.Lengths[k])}
	if o.ExitCode != nil {
		v.Exit = fmt.Sprint(*o.ExitCode)
	}
	switch {
	case e.Tails[k] == "" && show.IsPatch(o.Content):
		v.Diff = l.Diff(show.PatchLines(o.Content))
	case l.Head == 0:
		v.Body = show.Whole(o.Content)
	default:
		v.Body = show.Ends(o.Content, e.Tails[k], e.Lengths[k], l.All)
	}
	if readsCode[o.Tool] {
		v.Body = v.Body.Numbered()
	}
	return v
}

// wholeExcerpt is a turn with its whole texts.
func wholeExcerpt(turn relabel.Turn) relabel.TurnExcerpt {
	e := relabel.TurnExcerpt{Turn: turn, Tails: make([]string, len(turn.Observations))}
	for _, o := range turn.Observations {
		e.Lengths = append(e.Lengths, len(o.Content))
	}
	return e
}
