package render

import (
	"errors"
	"fmt"

	"relabel"
)

// Reason says why a label cannot be rendered.
type Reason string

// The reasons.
const (
	TemplateRefused  Reason = "template_refused"       // the template raised an error; the detail is its own
	NotContinuing    Reason = "label_not_continuing"   // the label does not continue the generation prompt
	NoStop           Reason = "label_without_stop"     // nothing ends the label's turn
	ArgumentsNotJSON Reason = "arguments_not_json"     // the template wants objects, and a call in the state has none
	LoneSurrogate    Reason = "lone_surrogate"         // half a character: no tokenizer has ids for it
	ReasoningDropped Reason = "reasoning_not_rendered" // the template leaves a label's reasoning out, which was to be kept
	GuardEscaped     Reason = "special_token_escaped"  // the template rewrote a special token's text, which then cannot be told from a token
)

// Refusal is a label or a state that cannot be rendered.
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

// said is an error in words that are safe to show: those of the template, of a refusal,
// or those of the first error with a code.
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
