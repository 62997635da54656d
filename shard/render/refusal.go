package render

import (
	"errors"
	"fmt"

	"relabel"
)

// Reason explains why a label cannot be rendered.
type Reason string

// Reasons for refusals.
const (
	TemplateRefused  Reason = "template_refused"         // the template raised an error, given in the detail
	NotContinuing    Reason = "label_not_continuing"     // the label does not continue the generation prompt
	NoStop           Reason = "label_without_stop"       // nothing ends the label's turn
	ArgumentsNotJSON Reason = "arguments_not_json"       // the template needs objects, but a call in the state has other arguments
	LoneSurrogate    Reason = "lone_surrogate"           // an unpaired surrogate: no tokenizer has IDs for it
	ReasoningDropped Reason = "reasoning_not_rendered"   // the template omits a label's reasoning, which was to be kept
	SpecialInText    Reason = "special_token_in_text"    // text of a special token in the state or the label, which the trainer would encode as the token
	MergesWithPrompt Reason = "label_merges_with_prompt" // encoded as one text, prompt and label have tokens across their boundary
	NotFlat          Reason = "not_plain_messages"       // no three messages of plain text render to the pair
	GuardEscaped     Reason = "special_token_escaped"    // the template rewrote a special token's text, which is then indistinguishable from a token
)

// Refusal is the error of a label or a state that cannot be rendered.
type Refusal struct {
	Reason Reason
	Detail string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

func refuse(reason Reason, format string, a ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, a...)}
}

// said returns the message of an error that is safe to show: that of a refusal or of the first error
// with a code.
func said(err error) string {
	var e *relabel.Error
	var r *Refusal
	switch {
	case errors.As(err, &r):
		return r.Error()
	case !errors.As(err, &e):
		return "it cannot be rendered"
	case e.Field != "":
		return e.Field + ": " + e.Message
	}
	return e.Message
}
