package render

import (
	"relabel"
	"relabel/jinja"
)

// Pairs renders pairs (st, ãt) independently of each other, as a trainer that has only the
// pair would. It caches only the IDs of texts. It is not safe for concurrent use.
type Pairs struct {
	student *Student
	encoder encoder
}

// Pairs returns a renderer of pairs. Use one per group of pairs that begin alike: it is much
// faster than one per pair, but its memory grows.
func (s *Student) Pairs() *Pairs { return &Pairs{s, newEncoder(s)} }

// Render returns the IDs of st with the header of the next turn, and those of ãt up to and
// including its stop token. tools is the JSON array of the tools as sent. The error is a
// *Refusal if the pair cannot be rendered.
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
