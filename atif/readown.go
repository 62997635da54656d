package atif

import (
	"fmt"

	"relabel"
	"relabel/chat"
)

// addOwn adds relabel's fields to a turn of its own trajectory.
func (in *reading) addOwn(turn *relabel.Turn, s step) error {
	own, err := ownFields[ownTurn](s.Extra)
	switch {
	case err != nil:
		return err
	case own == nil:
		return relabel.Errorf(relabel.CodeInvalid, "is missing, but the document has relabel's fields elsewhere").On("relabel")
	case own.T != turn.T:
		return relabel.Errorf(relabel.CodeInvalid, "is %d: expected %d, since turns follow each other", own.T, turn.T).On("relabel.t")
	}
	executed, err := own.Action.action(turn.Action.Message)
	if err != nil {
		return at("relabel.action", err)
	}
	executed.PromptTokenIDs, executed.TokenIDs = turn.Action.PromptTokenIDs, turn.Action.TokenIDs
	executed.Logprobs, executed.Usage = turn.Action.Logprobs, turn.Action.Usage
	executed.Raw = chat.EncodeMessage(executed.Message)
	turn.Action, turn.Executor, turn.LabelChance, turn.Tree = executed, own.Executor, own.LabelChance, string(own.Tree)
	turn.StartedAt, turn.EndedAt, turn.Time = own.StartedAt, own.EndedAt, own.Time
	if turn.Label, err = own.Label.label(turn.Action); err != nil {
		return at("relabel.label", err)
	}
	for i, other := range own.Others {
		a, err := other.labelled()
		if err != nil {
			return at(fmt.Sprintf("relabel.others[%d]", i), err)
		}
		turn.Others = append(turn.Others, a)
	}
	return nil
}

// label is nil in an evaluation, and the executed action if the teacher executed.
func (l *ownLabel) label(executed relabel.Action) (*relabel.Action, error) {
	switch {
	case l == nil:
		return nil, nil
	case l.IsAction:
		return &executed, nil
	case l.Status == "":
		return nil, relabel.Errorf(relabel.CodeInvalid, "has neither is_action nor an action")
	}
	a, err := l.labelled()
	return &a, err
}

// labelled is an action that is not the step's: with its own message, ids and figures.
func (o *ownAction) labelled() (relabel.Action, error) {
	var m relabel.Message
	if o.Message != nil {
		var err error
		if m, err = chat.DecodeMessage(o.Message); err != nil {
			return relabel.Action{}, at("message", err)
		}
	}
	a, err := o.action(m)
	a.TokenIDs, a.PromptTokenIDs, a.Logprobs, a.Usage = o.TokenIDs, o.PromptTokenIDs, o.Logprobs, o.Usage
	if a.Status == relabel.Received {
		a.Raw = chat.EncodeMessage(a.Message)
	}
	return a, err
}

// action is the action with the message shown, or with the exact one that JSON cannot represent.
func (o *ownAction) action(shown relabel.Message) (relabel.Action, error) {
	a := relabel.Action{PolicyID: o.PolicyID, Status: o.Status, Reason: string(o.Reason), Message: shown, FinishReason: string(o.FinishReason),
		Refusal: string(o.Refusal), Parse: o.Parse, ReadAs: o.ReadAs, NotGiven: o.NotGiven, Model: string(o.Model), Fingerprint: string(o.Fingerprint), Millis: o.Millis}
	if o.MessageBase64 == nil {
		return a, nil
	}
	exact, err := chat.DecodeMessage(o.MessageBase64)
	if err != nil {
		return a, at("message_base64", err)
	}
	if shown.Role != "" && !shownAs(exact, shown) {
		return a, relabel.Errorf(relabel.CodeInvalid, "differs from the step's message: the document was edited").On("message_base64")
	}
	a.Message = exact
	return a, nil
}

// shownAs reports whether a step that shows the exact message has these texts. Arguments are compared with
// their own extra field.
func shownAs(exact, shown relabel.Message) bool {
	return asShown(exact.Content) == shown.Content && asShown(exact.ReasoningContent) == shown.ReasoningContent && len(exact.ToolCalls) == len(shown.ToolCalls)
}

// asShown is what a reader gets of a text that JSON may not be able to represent.
func asShown(exact string) string { return chat.DecodeString(chat.AppendString(nil, exact)) }
