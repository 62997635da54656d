package render

import (
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/jinja"
)

// header is the text that a template adds for the next turn.
type header struct {
	text string
	ids  []int32
}

// A state and a label that tell how a template does things. The arguments are such that
// it shows whether they come out as written, quoted again, or taken apart.
const (
	probeCommand   = `ls "a"`
	probeArguments = `{"command":  "ls \"a\"",   "lines": 1.0}`
)

var probeTools = []relabel.Tool{{Name: "execute_bash", Description: "Runs a command.",
	Parameters: `{"type":"object","properties":{"command":{"type":"string"},"lines":{"type":"number"}},"required":["command"]}`}}

var probeState = []relabel.Message{{Role: "system", Content: "You repair code."}, {Role: "user", Content: "Repair it."}}

var probeLabel = relabel.Message{Role: "assistant", Content: "I look.",
	ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "execute_bash", Arguments: probeArguments}}}

// probe finds out how the template is to be given arguments, what its header is and what
// ends a turn. eos is the tokenizer's own end token, "" where it names none.
func (s *Student) probe(eos string) error {
	forms := []relabel.ArgumentsForm{relabel.ArgumentsString, relabel.ArgumentsObject}
	if s.Arguments != relabel.ArgumentsAuto {
		forms = []relabel.ArgumentsForm{s.Arguments}
	}
	var why error
	for _, form := range forms {
		s.Arguments = form
		prompt, answer, err := s.probeWith(eos)
		if err == nil && !showsArguments(form, answer.text) {
			err = relabel.Errorf(relabel.CodeInvalid, "it does not show a call's arguments given as %s: it knows no tool calls, or wants them otherwise", form)
		}
		if err == nil {
			return s.findHeader(prompt)
		}
		why = err
	}
	return relabel.Errorf(relabel.CodeInvalid, "this chat template cannot render labels: %s", said(why)).On("template").Because(why)
}

// showsArguments reports whether a rendered label has the probe's arguments: as they were
// written where they are given as text, and not quoted within quotes.
func showsArguments(form relabel.ArgumentsForm, answer string) bool {
	if form == relabel.ArgumentsString {
		return strings.Contains(answer, probeArguments)
	}
	return strings.Contains(answer, probeCommand) || strings.Contains(answer, `ls \"a\"`) && !strings.Contains(answer, `\\\"a`)
}

// probeWith renders the probe and determines the stop token.
func (s *Student) probeWith(eos string) (prompt, answer rendered, err error) {
	c := &Conversation{student: s, guard: firstGuard, guarded: jinja.NewList(), encoder: newEncoder(s)}
	if c.tools, err = jinja.DecodeJSON(chat.AppendTools(nil, probeTools)); err != nil {
		return prompt, answer, err
	}
	for _, m := range probeState {
		c.add(m)
	}
	if c.broken != nil {
		return prompt, answer, c.broken
	}
	label, err := s.message(probeLabel)
	if err != nil {
		return prompt, answer, err
	}
	if prompt, err = c.render(c.guarded, true); err != nil {
		return prompt, answer, err
	}
	whole, err := c.render(with(c.guarded, label), false)
	if err != nil {
		return prompt, answer, err
	}
	if !strings.HasPrefix(whole.text, prompt.text) {
		return prompt, answer, refuse(NotContinuing, "%q after %q", tail(whole.text), tail(prompt.text))
	}
	s.learnStop(whole.between(len(prompt.text), len(whole.text)), eos)
	answer, err = s.answer(prompt, whole)
	return prompt, answer, err
}

// learnStop uses eos as the end of a turn if the label contains it, otherwise the label's
// last special token.
func (s *Student) learnStop(label rendered, eos string) {
	s.Stop = ""
	for from := 0; ; {
		at, found := s.specials.nextToken(label, from)
		if at < 0 {
			return
		}
		s.Stop, s.StopID = found.text, found.id
		if from = at + len(found.text); found.text == eos {
			return
		}
	}
}

// answer returns what whole adds to prompt, up to and with the last stop token that the
// template wrote.
func (s *Student) answer(prompt, whole rendered) (rendered, error) {
	if !strings.HasPrefix(whole.text, prompt.text) {
		return rendered{}, refuse(NotContinuing, "the prompt ends with %q", tail(prompt.text))
	}
	added := whole.between(len(prompt.text), len(whole.text))
	end := -1
	for from := 0; ; {
		at, found := s.specials.nextToken(added, from)
		if at < 0 {
			break
		}
		if from = at + len(found.text); found.id == s.StopID {
			end = from
		}
	}
	if end < 0 || s.Stop == "" {
		return rendered{}, refuse(NoStop, "it ends with %q", tail(added.text))
	}
	return added.between(0, end), nil
}

// findHeader determines what the template adds to a state for the next turn. A template whose
// header is not the end of its prompt has none: each label becomes its own root.
func (s *Student) findHeader(prompt rendered) error {
	messages := jinja.NewList()
	for _, m := range probeState {
		v, err := s.message(m)
		if err != nil {
			return err
		}
		messages.Append(v)
	}
	tools, err := jinja.DecodeJSON(chat.AppendTools(nil, probeTools))
	if err != nil {
		return err
	}
	state, err := s.render(messages, tools, false, firstGuard)
	if err != nil {
		return nil // it wants the header: there is no state without
	}
	if text, ok := strings.CutPrefix(prompt.text, state.text); ok && text != "" {
		s.header = header{text, s.Tokens.Encode(nil, text)}
	}
	return nil
}

// checkReasoning refuses a label whose reasoning the template left out, where it was to
// be kept.
func (s *Student) checkReasoning(label relabel.Message, answer rendered) error {
	reasoning := strings.TrimSpace(label.ReasoningContent)
	if s.reasoning == relabel.ReasoningKeep && !strings.Contains(answer.text, reasoning) {
		return refuse(ReasoningDropped, "")
	}
	return nil
}

func tail(text string) string {
	const most = 40
	if len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}
