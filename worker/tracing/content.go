package tracing

import (
	"encoding/json"
	"strings"

	"relabel"
	"relabel/chat"
)

// plain makes text of any origin valid for an attribute.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// messageAttributes are the state and the tools of a request.
func messageAttributes(req relabel.ChatRequest) []attribute {
	var all []attribute
	state := req.Messages
	if len(state) > 0 && state[0].Role == relabel.RoleSystem {
		all = append(all, attribute{systemInstructions, "[" + string(appendPart(nil, "text", state[0].Content)) + "]"})
		state = state[1:]
	}
	all = append(all, attribute{inputMessages, messagesText(state)})
	if len(req.Tools) > 0 {
		all = append(all, attribute{toolDefinitions, toolsText(req.Tools)})
	}
	return all
}

func messagesText(messages []relabel.Message) string {
	b := []byte("[")
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendParts(b, m), '}')
	}
	return string(append(b, ']'))
}

// outputText is the answer as a list of one message.
func outputText(a relabel.Completion) string {
	m := a.Message
	m.Role = relabel.RoleAssistant
	b := appendParts([]byte("["), m)
	b = append(b, `,"finish_reason":`...)
	return string(append(chat.AppendString(b, a.FinishReason), "}]"...))
}

// appendParts appends a message without its closing brace.
func appendParts(b []byte, m relabel.Message) []byte {
	b = chat.AppendString(append(b, `{"role":`...), m.Role)
	b = append(b, `,"parts":[`...)
	start := len(b)
	part := func(p []byte) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, p...)
	}
	if m.ReasoningContent != "" {
		part(appendPart(nil, "reasoning", m.ReasoningContent))
	}
	switch {
	case m.Role == relabel.RoleTool:
		p := chat.AppendString([]byte(`{"type":"tool_call_response","id":`), m.ToolCallID)
		p = append(p, `,"response":`...)
		part(append(chat.AppendString(p, m.Content), '}'))
	case m.Content != "":
		part(appendPart(nil, "text", m.Content))
	}
	for _, c := range m.ToolCalls {
		p := chat.AppendString([]byte(`{"type":"tool_call","id":`), c.ID)
		p = append(p, `,"name":`...)
		p = append(chat.AppendString(p, c.Name), `,"arguments":`...)
		part(append(appendArguments(p, c.Arguments), '}'))
	}
	return append(b, ']')
}

func appendPart(b []byte, kind, content string) []byte {
	b = chat.AppendString(append(b, `{"type":`...), kind)
	b = append(b, `,"content":`...)
	return append(chat.AppendString(b, content), '}')
}

// appendArguments appends the model's JSON, or its text if that is not JSON.
func appendArguments(b []byte, arguments string) []byte {
	if json.Valid([]byte(arguments)) && plain(arguments) == arguments {
		return append(b, arguments...)
	}
	return chat.AppendString(b, arguments)
}

// toolsText has the tools in the form of the conventions: a flat list.
func toolsText(tools []relabel.Tool) string {
	b := []byte("[")
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = chat.AppendString(append(b, `{"type":"function","name":`...), t.Name)
		b = chat.AppendString(append(b, `,"description":`...), t.Description)
		if t.Parameters != "" {
			b = append(append(b, `,"parameters":`...), t.Parameters...)
		}
		b = append(b, '}')
	}
	return string(append(b, ']'))
}
