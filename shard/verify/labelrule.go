package verify

import (
	"strconv"
	"strings"

	"relabel"
)

// checkLabelRules checks that each iteration has a rule, and whether sums over its labels are unbiased:
// the teacher may be asked at every state.
func (c *check) checkLabelRules() {
	m := &c.manifest
	if m.LabelRules != nil && len(m.LabelRules) != len(m.Iterations) {
		c.complain("there are %d iterations and %d label_rules", len(m.Iterations), len(m.LabelRules))
	}
	for _, r := range m.LabelRules {
		if unbiased := askedElsewhere(r.Rule) > 0; unbiased != r.Unbiased {
			c.complain("unbiased is %t for the label rule %s, expected %t", r.Unbiased, r.Rule, unbiased)
		}
	}
}

// weightsOf are the weights 1 / p of a rule: 1 where the teacher acts or the rule selects the state with
// certainty, and that of the other states at which it may ask.
func weightsOf(rule relabel.LabelRule) []float64 {
	p := askedElsewhere(rule)
	if p == 0 || p == 1 {
		return []float64{1}
	}
	return []float64{1, 1 / p}
}

// askedElsewhere is the probability that the teacher is asked at a state of the student that the rule does
// not select with certainty: 1/K of every:K, and of the remainder the floor.
func askedElsewhere(rule relabel.LabelRule) float64 {
	text, floor, _ := strings.Cut(string(rule), "+")
	p := 0.0
	switch name, value, _ := strings.Cut(text, ":"); name {
	case "all":
		p = 1
	case "every":
		if k, err := strconv.Atoi(value); err == nil {
			p = 1 / float64(k)
		}
	}
	if more, err := strconv.ParseFloat(floor, 64); err == nil {
		p += (1 - p) * more
	}
	return p
}
