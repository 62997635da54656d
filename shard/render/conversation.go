package render

import (
	"slices"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/jinja"
)

// Conversation is a trajectory as the student's template sees it, extended turn by turn. It
// is not safe for concurrent use.
type Conversation struct {
	student *Student
	tools   jinja.Value

	messages []jinja.Value // decoded, without guards
	guarded  *jinja.List   // with guards
	guard    rune
	broken   error // why no further state can be rendered

	prompt *rendered // st with the header; nil until it is rendered
	label  rendered  // ãt that Label rendered last

	encoder encoder

	inMessages, inLabels int // occurrences of special tokens' text
}

// Converse starts a conversation with the prompt x and the tools.
func (s *Student) Converse(opening []relabel.Message, tools []relabel.Tool) *Conversation {
	c := &Conversation{student: s, guard: firstGuard, guarded: jinja.NewList(), encoder: newEncoder(s)}
	if len(tools) > 0 {
		c.tools, c.broken = jinja.DecodeJSON(chat.AppendTools(nil, tools))
	}
	for _, m := range opening {
		c.add(m)
	}
	return c
}

// Advance extends st to st+1 (eq. 7).
func (c *Conversation) Advance(turn relabel.Turn) {
	for _, m := range relabel.AppendTurn(nil, turn) {
		c.add(m)
	}
}

// Special returns the number of occurrences of special tokens' text in the messages so far
// and in the labels that were rendered.
func (c *Conversation) Special() int { return c.inMessages + c.inLabels }

// add adds a message of a state.
func (c *Conversation) add(m relabel.Message) {
	c.prompt = nil
	v, err := c.student.message(m)
	if err == nil && holds(v, c.guard) {
		err = c.changeGuard(v)
	}
	if err != nil {
		if c.broken == nil {
			c.broken = err
		}
		return
	}
	c.messages = append(c.messages, v)
	c.guarded.Append(c.student.specials.guard(v, c.guard, &c.inMessages))
}

// changeGuard selects a guard that occurs neither in the messages nor in v, if there is one.
func (c *Conversation) changeGuard(v jinja.Value) error {
	all := jinja.NewList(append(c.messages[:len(c.messages):len(c.messages)], v)...)
	guard := c.guard + 1
	for ; holds(all, guard); guard++ {
		if guard == lastGuard {
			return refuse(GuardEscaped, "the messages contain all private-use characters")
		}
	}
	c.guard, c.prompt, c.inMessages = guard, nil, 0
	c.guarded = jinja.NewList()
	for _, m := range c.messages {
		c.guarded.Append(c.student.specials.guard(m, guard, &c.inMessages))
	}
	return nil
}

// Prompt returns the IDs of st with the header of the next turn, which are the IDs that the
// student receives when it acts, and the number of them that belong to st without the header.
// That number is 0 if the rendering of st alone is not a prefix of them. The error is a
// *Refusal if the template cannot render the state.
func (c *Conversation) Prompt() (ids []int32, state int, err error) {
	if c.broken != nil {
		return nil, 0, c.broken
	}
	prompt, err := c.renderPrompt()
	if err != nil {
		return nil, 0, err
	}
	ids = c.encoder.encode(prompt)
	return ids, c.student.WithoutHeader(ids), nil
}

// Label returns the IDs of ãt up to and including its stop token: what the rendering of st ⊕
// ãt adds to that of st with the header. The error is a *Refusal if the label cannot be
// rendered.
func (c *Conversation) Label(label relabel.Message) ([]int32, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	v, err := c.student.message(label)
	if err != nil {
		return nil, err
	}
	if holds(v, c.guard) {
		if err := c.changeGuard(v); err != nil {
			return nil, err
		}
	}
	prompt, err := c.renderPrompt()
	if err != nil {
		return nil, err
	}
	whole, err := c.render(with(c.guarded, c.student.specials.guard(v, c.guard, &c.inLabels)), false)
	if err != nil {
		return nil, err
	}
	answer, err := c.student.answer(prompt, whole)
	if err != nil {
		return nil, err
	}
	if err := c.student.checkReasoning(label, answer); err != nil {
		return nil, err
	}
	c.label = answer
	return c.encoder.encode(answer), nil
}

// CheckText returns a *Refusal unless a trainer that encodes the text of st and of the label that was rendered last
// as a whole gets the given ids: special tokens' text in messages becomes tokens there, and a label may merge with
// the end of the prompt.
func (c *Conversation) CheckText(prompt, answer []int32) error {
	state, err := c.renderPrompt()
	if err != nil {
		return err
	}
	if len(state.plain)+len(c.label.plain) > 0 {
		return refuse(SpecialInText, "a trainer that encodes text takes it for the token")
	}
	if c.student.Flattens {
		if _, err := c.student.Flatten(state.text, c.label.text); err != nil {
			return err
		}
	}
	whole := c.encoder.encode(rendered{text: state.text + c.label.text})
	if len(whole) != len(prompt)+len(answer) || !slices.Equal(whole[:len(prompt)], prompt) || !slices.Equal(whole[len(prompt):], answer) {
		return refuse(MergesWithPrompt, "encoded as a whole, prompt and label have other tokens")
	}
	return nil
}

func (c *Conversation) renderPrompt() (rendered, error) {
	if c.prompt == nil {
		prompt, err := c.render(c.guarded, true)
		if err != nil {
			return rendered{}, err
		}
		c.prompt = &prompt
	}
	return *c.prompt, nil
}

func (c *Conversation) render(messages *jinja.List, header bool) (rendered, error) {
	r, err := c.student.render(messages, c.tools, header, c.guard)
	if err == nil && strings.Contains(r.text, escaped(c.guard)) {
		err = refuse(GuardEscaped, "the template escapes characters that are not ASCII")
	}
	return r, err
}

func with(list *jinja.List, v jinja.Value) *jinja.List {
	longer := jinja.NewList()
	for i := range list.Len() {
		longer.Append(list.At(i))
	}
	longer.Append(v)
	return longer
}
