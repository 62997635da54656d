package policy

import (
	"reflect"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// understood makes the canonical message of an answer: it separates reasoning from the content, and reads
// calls in the text. If it changed the message, Said has the server's own, and ReadAs how it was read.
func understood(p relabel.Policy, req relabel.ChatRequest, done relabel.Completion) relabel.Completion {
	m, how := done.Message, []relabel.CallForm(nil)
	if m.ReasoningContent == "" {
		if thought, rest, found := cutThought(m.Content); found {
			m.ReasoningContent, m.Content = thought, rest
			how = append(how, relabel.ThinkTags)
		}
	}
	inText := p.ToolFormat == relabel.ToolsText // also if the prompt describes no tools
	if len(m.ToolCalls) == 0 && (len(req.Tools) > 0 || inText) {
		read := texttools.Recognise
		if inText {
			read = texttools.Read
		}
		r := read(m.Content, req.Tools)
		if r.Form == "" && r.Content != m.Content {
			r.Form = relabel.TagEscapes
		}
		if r.Form != "" {
			m.Content, m.ToolCalls = r.Content, r.Calls
			how = append(how, r.Form)
		}
		for k := range m.ToolCalls {
			m.ToolCalls[k].ID = relabel.CallID(req.T, k)
		}
	}
	done.NotGiven = asksOf(p.Server, req.Sampling.Logprobs).notGiven(done)
	if reflect.DeepEqual(m, done.Message) {
		return done
	}
	m.Role = relabel.RoleAssistant
	done.Said, done.ReadAs = done.Raw, how
	done.Raw, done.Message = chat.EncodeMessage(m), m
	return done
}

const thoughtStart, thoughtEnd = "<think>", "</think>"

// cutThought cuts the reasoning from the beginning of a content: from <think> to its end tag or, in a
// truncated answer, to the end; or everything before an end tag, if the server's template opened it in
// the prompt. An end tag inside a call is part of the call.
func cutThought(content string) (thought, rest string, found bool) {
	inside, opened := strings.CutPrefix(strings.TrimLeft(content, " \t\r\n"), thoughtStart)
	if !opened {
		inside = content
	}
	thought, rest, closed := strings.Cut(inside, thoughtEnd)
	if !closed && !opened || !opened && inCall(thought) {
		return "", content, false
	}
	return strings.Trim(thought, "\r\n"), strings.TrimLeft(rest, "\r\n"), true
}

// inCall reports whether text ends inside a call.
func inCall(text string) bool {
	for open, end := range map[string]string{"<function=": "</function>", "<tool_call>": "</tool_call>"} {
		if strings.LastIndex(text, open) > strings.LastIndex(text, end) {
			return true
		}
	}
	return false
}
