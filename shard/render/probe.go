package render

import (
	"strings"

	"relabel"
)

// A state and a label that show how a template works. Its output shows whether arguments come out
// as written, quoted again, or as separate values.
const (
	probeCommand   = `ls "a"`
	probeArguments = `{"command":  "ls \"a\"",   "lines": 1.0}`
)

var probeTools = []relabel.Tool{{Name: "execute_bash", Description: "Runs a command.",
	Parameters: `{"type":"object","properties":{"command":{"type":"string"},"lines":{"type":"number"}},"required":["command"]}`}}

var probeState = []relabel.Message{{Role: "system", Content: "You repair code."}, {Role: "user", Content: "Repair it."}}

var probeLabel = relabel.Message{Role: "assistant", Content: "I look.",
	ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "execute_bash", Arguments: probeArguments}}}

// probe determines the form of arguments that the template needs, its header, and the token that
// ends a turn. eos is the tokenizer's own end token, "" if it has none.
func (s *Student) probe(eos string) error {
	forms := []relabel.ArgumentsForm{relabel.ArgumentsString, relabel.ArgumentsObject}
	if s.Arguments != relabel.ArgumentsAuto {
		forms = []relabel.ArgumentsForm{s.Arguments}
	}
	var why error
	for _, form := range forms {
		s.Arguments = form
		c := s.Converse(probeState, probeTools)
		prompt, answer, err := s.probeWith(c, eos)
		if err == nil && !showsArguments(form, answer.text) {
			err = relabel.Errorf(relabel.CodeInvalid, "its output lacks the arguments of a call given as %s: it does not support tool calls, or needs another form", form)
		}
		if err == nil {
			s.findHeader(c, prompt)
			bos := s.model.Special("bos_token")
			s.BeginsWithBOS = bos != "" && strings.HasPrefix(prompt.text, bos)
			return nil
		}
		why = err
	}
	return relabel.Errorf(relabel.CodeInvalid, "this chat template cannot render labels: %s", said(why)).On("template").Because(why)
}

// showsArguments reports whether a rendered label contains the probe's arguments: literally if they
// are given as text, and not quoted twice.
func showsArguments(form relabel.ArgumentsForm, answer string) bool {
	if form == relabel.ArgumentsString {
		return strings.Contains(answer, probeArguments)
	}
	return strings.Contains(answer, probeCommand) || strings.Contains(answer, `ls \"a\"`) && !strings.Contains(answer, `\\\"a`)
}

// probeWith renders the probe and determines the stop token.
func (s *Student) probeWith(c *Conversation, eos string) (prompt, answer rendered, err error) {
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

// learnStop sets the stop token: eos if the label contains it, otherwise the label's last special
// token.
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

// answer returns the text that whole adds to prompt, up to and including the last stop token that
// the template wrote.
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
func (s *Student) findHeader(c *Conversation, prompt rendered) {
	state, err := s.render(c.guarded, c.tools, false, firstGuard)
	if err != nil {
		return // the template cannot render a state without the header
	}
	if text, ok := strings.CutPrefix(prompt.text, state.text); ok && text != "" {
		s.header = s.Tokens.Encode(nil, text)
	}
}

// checkReasoning refuses a label if its reasoning must be kept, but the template omits it.
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
