package policy

import (
	"reflect"
	"strings"

	"relabel"
	"relabel/chat"
	"relabel/policy/texttools"
)

// understood makes the canonical message out of what a server answered: reasoning apart
// from the content, and calls that are in the text among the calls. Where it had to
// take text apart, the server's own message is kept as Said, and ReadAs says how.
func understood(p relabel.Policy, req relabel.ChatRequest, done relabel.Completion) relabel.Completion {
	m, how := done.Message, []relabel.CallForm(nil)
	if m.ReasoningContent == "" {
		if thought, rest, found := cutThought(m.Content); found {
			m.ReasoningContent, m.Content = thought, rest
			how = append(how, relabel.ThinkTags)
		}
	}
	if len(m.ToolCalls) == 0 && len(req.Tools) > 0 {
		read := texttools.Recognise
		if p.ToolFormat == relabel.ToolsText {
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
	done.NotGiven = notGiven(p.Server, done)
	if reflect.DeepEqual(m, done.Message) {
		return done
	}
	m.Role = relabel.RoleAssistant
	done.Said, done.ReadAs = done.Raw, how
	done.Raw, done.Message = chat.EncodeMessage(m), m
	return done
}

const thoughtStart, thoughtEnd = "<think>", "</think>"

// cutThought takes the reasoning off the beginning of a content: what <think> opens
// there, to its end tag or, in an answer that was cut, to the end; or what comes before
// an end tag alone, where the server's template opened it in the prompt. An end tag
// inside a call is the call's.
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
