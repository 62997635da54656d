package conversations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"relabel"
	"relabel/chat"
)

// parse reads a line.
func parse(line []byte) (c relabel.Conversation, err error) {
	var fields struct {
		Messages      []json.RawMessage `json:"messages"`
		Tools         json.RawMessage   `json:"tools"`
		Conversations json.RawMessage   `json:"conversations"`
	}
	switch err := json.Unmarshal(line, &fields); {
	case err != nil:
		return c, bad("", "is not a JSON object with a list of messages")
	case fields.Messages == nil && fields.Conversations != nil:
		return c, bad("conversations", "is another form (from, value): convert it to messages with role and content")
	case len(fields.Messages) == 0:
		return c, bad("messages", "is missing or empty")
	}
	if err := checkFields(line); err != nil {
		return c, err
	}
	if c.Tools, err = parseTools(fields.Tools); err != nil {
		return c, err
	}
	p := parser{}
	for i, raw := range fields.Messages {
		if err := p.add(raw); err != nil {
			return c, below(fmt.Sprintf("messages[%d]", i), err)
		}
	}
	c.Messages, c.Labels = p.messages, p.labels
	if p.turn == 0 {
		return c, bad("messages", "has no message of the assistant")
	}
	return c, nil
}

func bad(field, format string, a ...any) error {
	return relabel.Errorf(relabel.CodeInvalid, format, a...).On(field)
}

func below(at string, err error) error {
	var e *relabel.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Field != "" {
		at += "." + e.Field
	}
	return bad(at, "%s", e.Message)
}

// parser reads the messages of a conversation in order.
type parser struct {
	messages []relabel.Message
	labels   []int
	turn     int      // messages of the assistant so far
	calls    []string // ids of the calls of the last one as the file names them
	answered int      // of these calls, in order
}

func (p *parser) add(raw json.RawMessage) error {
	m, err := chat.DecodeMessage(raw)
	if err != nil {
		return bad("", "is not a message")
	}
	if err := errors.Join(checkFields(raw), checkContent(raw)); err != nil {
		return err
	}
	switch m.Role {
	case "developer":
		m.Role = relabel.RoleSystem
	case relabel.RoleSystem, relabel.RoleUser, relabel.RoleAssistant, relabel.RoleTool:
	default:
		return bad("role", "is %.40q: it must be system, developer, user, assistant or tool", m.Role)
	}
	if m.Role != relabel.RoleAssistant {
		return p.other(m)
	}
	trained, err := isTrained(raw)
	if err != nil {
		return err
	}
	return p.assistant(m, trained)
}

// other adds a message that is not the assistant's.
func (p *parser) other(m relabel.Message) error {
	switch {
	case len(m.ToolCalls) > 0:
		return bad("tool_calls", "must be absent: only the assistant calls tools")
	case m.ReasoningContent != "":
		return bad("reasoning_content", "must be absent: only the assistant reasons")
	case m.Role == relabel.RoleSystem && p.turn > 0:
		return bad("role", "is system after a message of the assistant: a state has system messages only at its start")
	case m.Role != relabel.RoleTool:
		m.ToolCallID = ""
		p.messages = append(p.messages, m)
		return nil
	case p.answered == len(p.calls):
		return bad("role", "is tool, but no call is unanswered")
	case m.ToolCallID != "" && m.ToolCallID != p.calls[p.answered]:
		return bad("tool_call_id", "is %.60q, but the next unanswered call is %.60q: answers must have the order of the calls", m.ToolCallID, p.calls[p.answered])
	}
	m.ToolCallID = relabel.CallID(p.turn, p.answered)
	p.answered++
	p.messages = append(p.messages, m)
	return nil
}

// assistant adds a message of the assistant.
func (p *parser) assistant(m relabel.Message, trained bool) error {
	if p.turn == 0 && len(p.messages) == 0 {
		return bad("role", "is assistant at the start: a system or user message must come first")
	}
	if p.answered < len(p.calls) {
		return bad("role", "is assistant, but the call %.60q is unanswered", p.calls[p.answered])
	}
	if trained && m.Content == "" && len(m.ToolCalls) == 0 {
		return bad("content", "is empty, and there is no call: nothing can be trained")
	}
	p.turn++
	p.calls, p.answered = nil, 0
	for k, call := range m.ToolCalls {
		if call.Name == "" {
			return bad(fmt.Sprintf("tool_calls[%d].function.name", k), "is missing")
		}
		p.calls = append(p.calls, call.ID)
	}
	if trained {
		p.labels = append(p.labels, p.turn)
	}
	p.messages = append(p.messages, m.Canonical(p.turn))
	return nil
}

// checkContent refuses content that is not text.
func checkContent(raw json.RawMessage) error {
	var m struct {
		Content      json.RawMessage `json:"content"`
		FunctionCall json.RawMessage `json:"function_call"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return bad("", "is not a message")
	}
	if m.FunctionCall != nil && !bytes.Equal(m.FunctionCall, []byte("null")) {
		return bad("function_call", "is an outdated form: use tool_calls")
	}
	switch content := bytes.TrimSpace(m.Content); {
	case len(content) == 0 || content[0] == '"' || bytes.Equal(content, []byte("null")):
		return nil
	case content[0] != '[':
		return bad("content", "must be text or a list of parts")
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return bad("content", "must be text or a list of parts")
	}
	for i, part := range parts {
		if part.Text == nil {
			return bad(fmt.Sprintf("content[%d]", i), "has the type %.40q: only text can be trained on", part.Type)
		}
	}
	return nil
}

// flags are the fields by which formats say whether a message of the assistant is trained on.
var flags = []string{"weight", "train", "trainable", "loss", "step_loss_mask"}

// isTrained reads the flag of a message of the assistant; without one it is trained on.
func isTrained(raw json.RawMessage) (bool, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return false, bad("", "is not a message")
	}
	trained, by := true, ""
	for _, flag := range flags {
		value, there := fields[flag]
		if !there || bytes.Equal(value, []byte("null")) {
			continue
		}
		switch is := string(value); {
		case by != "":
			return false, bad(flag, "stands beside %s: give one flag", by)
		case slices.Contains([]string{"0", "0.0", "false"}, is):
			trained = false
		case !slices.Contains([]string{"1", "1.0", "true"}, is):
			return false, bad(flag, "is %.40s: it must be 0, 1, false or true; weights belong to the mix", is)
		}
		by = flag
	}
	return trained, nil
}

// parseTools reads tools, which may be JSON text.
func parseTools(raw json.RawMessage) ([]relabel.Tool, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, bad("tools", "is not a list")
		}
		raw = json.RawMessage(text)
	}
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	var list []struct {
		Type     string `json:"type"`
		Function *struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, bad("tools", "is not a list of tools")
	}
	var tools []relabel.Tool
	for i, t := range list {
		if t.Function == nil || t.Function.Name == "" {
			return nil, bad(fmt.Sprintf("tools[%d]", i), "has no function with a name")
		}
		tools = append(tools, relabel.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: string(t.Function.Parameters)})
	}
	return tools, nil
}
