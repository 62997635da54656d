package relabel

import "errors"

// finishLength is the finish reason of an answer that was cut.
const finishLength = "length"

// Action makes the action of a policy out of its answer. parse says how a message that
// is whole is understood.
func (c Completion) Action(policy ID, parse func(Message) ParseOutcome) Action {
	return Action{
		PolicyID: policy, Status: Had, Millis: c.Took.Milliseconds(),
		Raw: c.Raw, Said: c.Said, ReadAs: c.ReadAs, NotGiven: c.NotGiven, Message: c.Message,
		FinishReason: c.FinishReason, Refusal: c.Refusal,
		Parse:    c.outcome(parse),
		TokenIDs: c.TokenIDs, PromptTokenIDs: c.PromptTokenIDs, Logprobs: c.Logprobs,
		Usage: c.Usage, Model: c.Model, Fingerprint: c.Fingerprint,
	}
}

// outcome says how an answer is understood. One that was cut is not whole, whatever
// can be read in it.
func (c Completion) outcome(parse func(Message) ParseOutcome) ParseOutcome {
	switch {
	case c.FinishReason == finishLength:
		return CutByLength
	case c.Refusal != "" && len(c.Message.ToolCalls) == 0:
		return Refused
	}
	return parse(c.Message)
}

// MissingAction is the action that a policy could not be brought to give, with the
// reason in words that are safe to show. They begin with the error's code, and are that
// alone for a state that is too long.
func MissingAction(policy ID, err error) Action {
	reason := string(CodeOf(err))
	if CodeOf(err) != CodeContextOverflow {
		reason += ": " + Shown(err)
	}
	return Action{PolicyID: policy, Status: Missing, Reason: reason}
}

// Shown is an error's message without its cause, safe to show.
func Shown(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "an unforeseen failure; details are in the log"
}
