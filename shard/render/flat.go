package render

import (
	"slices"
	"strings"

	"relabel/jinja"
)

// Flat is a pair (st, ãt) as three messages of plain text, which the template renders to the same text: the text
// between the messages is part of User. Trainers that render message by message cannot render it differently.
type Flat struct{ System, User, Assistant string }

// flatFrame is the text that a template prints around three such messages: system, user, and the assistant's.
type flatFrame struct{ before, between, after, label string }

// The contents from which the frame is read.
const (
	flatSystem = "RELABEL-SYSTEM"
	flatUser   = "RELABEL-USER"
	flatLabel  = "RELABEL-LABEL"
)

// findFlatFrame reads the frame of the template; nil if it has none.
func (s *Student) findFlatFrame() *flatFrame {
	prompt, whole, err := s.renderFlat(Flat{flatSystem, flatUser, flatLabel})
	if err != nil {
		return nil
	}
	before, rest, first := strings.Cut(prompt, flatSystem)
	between, after, second := strings.Cut(rest, flatUser)
	label, _, third := strings.Cut(strings.TrimPrefix(whole, prompt), flatLabel)
	if !first || !second || !third || between == "" || !strings.HasPrefix(whole, prompt) {
		return nil
	}
	return &flatFrame{before, between, after, label}
}

// renderFlat renders the first two messages with the header, and all of them. Special tokens' text stays text.
func (s *Student) renderFlat(f Flat) (prompt, whole string, err error) {
	list := jinja.NewList()
	for _, m := range [][2]string{{"system", f.System}, {"user", f.User}} {
		list.Append(flatMessage(m[0], m[1]))
	}
	p, err := s.render(list, nil, true, firstGuard)
	if err != nil {
		return "", "", err
	}
	list.Append(flatMessage("assistant", f.Assistant))
	w, err := s.render(list, nil, false, firstGuard)
	return p.text, w.text, err
}

func flatMessage(role, content string) *jinja.Map {
	m := jinja.NewMap()
	m.Set("role", role)
	m.Set("content", content)
	return m
}

// qwen3Frame and the probes are what Qwen3's template prints: each an assistant's text with its print behind the header.
var (
	qwen3Frame  = flatFrame{"<|im_start|>system\n", "<|im_end|>\n<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<think>\n\n</think>\n\n"}
	qwen3Probes = [][2]string{
		{"\n\nA\n", "<think>\n\n</think>\n\nA\n"},
		{"<think>\n\nA\n\n</think>\n\n\nB", "<think>\nA\n</think>\n\nB"},
		{"A</think>B", "<think>\nA\n</think>\n\nB"},
	}
)

// PrintsAsQwen3 reports whether the template prints a system, a user and an assistant message of plain text as Qwen3's
// template does, with its stop token. Renderers that have Qwen3's template built in then print such messages alike.
func (s *Student) PrintsAsQwen3() bool {
	frame := s.flat()
	if frame == nil || *frame != qwen3Frame || s.Stop != "<|im_end|>" {
		return false
	}
	for _, probe := range qwen3Probes {
		prompt, whole, err := s.renderFlat(Flat{flatSystem, flatUser, probe[0]})
		if err != nil || !strings.HasPrefix(whole, prompt+probe[1]+s.Stop) {
			return false
		}
	}
	return true
}

// Flatten returns the rendered texts of st with the header and of ãt with its stop token as three messages. The
// error is a *Refusal if the template renders no such messages to these texts.
func (s *Student) Flatten(prompt, answer string) (Flat, error) {
	frame := s.flat()
	if frame == nil {
		return Flat{}, refuse(NotFlat, "the template renders no plain messages")
	}
	rest, begins := strings.CutPrefix(prompt, frame.before)
	rest, ends := strings.CutSuffix(rest, frame.after)
	system, user, cut := strings.Cut(rest, frame.between)
	label, stops := strings.CutSuffix(answer, s.Stop)
	if !begins || !ends || !cut || !stops {
		return Flat{}, refuse(NotFlat, "the state does not begin with a system and a user message")
	}
	for _, text := range slices.Compact([]string{strings.TrimPrefix(label, frame.label), label}) {
		f := Flat{system, user, text}
		if p, w, err := s.renderFlat(f); err == nil && p == prompt && strings.HasPrefix(w, prompt+answer) {
			return f, nil
		}
	}
	return Flat{}, refuse(NotFlat, "the template changes the text of plain messages")
}

// Unflatten returns the ids of st with the header and of ãt up to its stop token. The error is a *Refusal if the
// template does not render the messages, or the label without a stop token.
func (s *Student) Unflatten(f Flat) (prompt, answer []int32, err error) {
	p, whole, err := s.renderFlat(f)
	if err != nil {
		return nil, nil, err
	}
	added, continues := strings.CutPrefix(whole, p)
	at := strings.LastIndex(added, s.Stop)
	if !continues || at < 0 {
		return nil, nil, refuse(NotContinuing, "the prompt ends with %q", tail(p))
	}
	return s.Tokens.Encode(nil, p), s.Tokens.Encode(nil, added[:at+len(s.Stop)]), nil
}

// flat returns the template's frame, which is read once.
func (s *Student) flat() *flatFrame {
	s.flatOnce.Do(func() { s.frame = s.findFlatFrame() })
	return s.frame
}
