// Package labelrule decides at which states the teacher is asked for a label, and simulates such
// rules on stored labels.
//
// A decision is pure: a function of the rule, the run's seed, the place of the trajectory, its drawn
// executors and what was committed before. So it can be taken before the teacher is asked, and is the
// same each time.
package labelrule

import (
	"regexp"
	"strconv"
	"strings"

	"relabel"
)

// kind is the first part of a rule.
type kind string

const (
	all          kind = "all"
	every        kind = "every"
	uncertain    kind = "uncertain"
	afterFailure kind = "after_failure"
	teacherTurns kind = "teacher_turns"
)

// Rule is a parsed label rule. The zero value is not valid.
type Rule struct {
	text      relabel.LabelRule
	kind      kind
	n         int     // of every, first_after_parting and teacher_turns; in turns
	threshold float64 // of uncertain, in nats per token
	floor     float64 // probability of states that the rule does not select
}

// forms of rules.
var forms = regexp.MustCompile(`^(?:(all)|(every|first_after_parting):([1-9][0-9]{0,2})(\+0\.[0-9]{1,6})?|(uncertain):([0-9]{1,2}(?:\.[0-9]{1,6})?)(\+0\.[0-9]{1,6})?|(after_failure)(\+0\.[0-9]{1,6})?|(teacher_turns):([1-9][0-9]{0,2}))$`)

// Parse parses the rule of a field of a request; "" is all. Errors are CodeInvalid and name the field.
func Parse(text relabel.LabelRule, field string) (Rule, error) {
	if text == "" {
		text = relabel.LabelAll
	}
	if !forms.MatchString(string(text)) {
		return Rule{}, relabel.Errorf(relabel.CodeInvalid,
			"is %.40q; give all, every:K, uncertain:X, after_failure or first_after_parting:N (K and N from 1 to 999, X in nats per token below 100), the last four optionally with a floor such as +0.1, or teacher_turns:K", string(text)).On(field)
	}
	body, floor, floored := strings.Cut(string(text), "+")
	name, value, _ := strings.Cut(body, ":")
	r := Rule{text: text, kind: kind(name)}
	if floored {
		r.floor, _ = strconv.ParseFloat(floor, 64)
		if r.floor == 0 {
			return Rule{}, relabel.Errorf(relabel.CodeInvalid, "is %q; a floor is a probability above 0 and below 1, such as +0.1: leave +0 out", string(text)).On(field)
		}
	}
	if r.kind == uncertain {
		r.threshold, _ = strconv.ParseFloat(value, 64)
	} else if value != "" {
		r.n, _ = strconv.Atoi(value)
	}
	return r, nil
}

// String is the text of the rule.
func (r Rule) String() string { return string(r.text) }

// Unbiased reports whether each state of the student has a positive probability, so that the sum of
// 1 / Chance over the states at which the teacher is asked has the number of all states as its
// expectation (Horvitz and Thompson, 1952). Without that, labels weigh 1 and sums over them are biased.
func (r Rule) Unbiased() bool { return r.kind == all || r.kind == every || r.floor > 0 }

// NeedsLogprobs reports whether the rule depends on the log-probabilities of the student's tokens.
func (r Rule) NeedsLogprobs() bool { return r.kind == uncertain }

// EndsRollouts reports whether the rule ends rollouts instead of selecting among their labels. It has
// a meaning only for student prefixes that the teacher continues (aggrevate).
func (r Rule) EndsRollouts() bool { return r.kind == teacherTurns }
