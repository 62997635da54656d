package render

import (
	"relabel"
	"relabel/jinja"
)

// Pairs renders pairs (st, ãt), each alone, and so says what a trainer that has nothing
// else would see. What it keeps is only which ids texts have. It is for one goroutine.
type Pairs struct {
	student *Student
	encoder encoder
}

// Pairs returns a renderer of pairs. One for pairs that begin alike is much faster than
// one for each, and one for all grows.
func (s *Student) Pairs() *Pairs { return &Pairs{s, newEncoder(s)} }

// Render returns the ids of st with the header of the turn to come, and those of ãt up to
// and with its stop token. tools is the JSON array of the tools as they were sent. What
// cannot be rendered is a *Refusal.
func (p *Pairs) Render(state []relabel.Message, tools string, label relabel.Message) (prompt, answer []int32, err error) {
	c := &Conversation{student: p.student, guard: firstGuard, guarded: jinja.NewList(), encoder: p.encoder}
	if tools != "[]" {
		c.tools, c.broken = jinja.DecodeJSON([]byte(tools))
	}
	for _, m := range state {
		c.add(m)
	}
	if prompt, _, err = c.Prompt(); err != nil {
		return nil, nil, err
	}
	answer, err = c.Label(label)
	return prompt, answer, err
}
