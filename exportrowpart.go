package relabel

import "strings"

// RowPart is a message or a text of an export's row of text.
type RowPart struct {
	Title   string   // what it is in the row, such as completion; "": a message of the state
	Message *Message // nil: Text has it
	Text    string   // rendered text, or JSON that is no message
	Trained bool     // whether there is loss on it; of preferences, whether it is the chosen one
}

// Head is the title with the role of the message and the call that it answers.
func (p RowPart) Head() string {
	words := []string{p.Title}
	if p.Message != nil {
		words = append(words, p.Message.Role, p.Message.ToolCallID)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// Body is its text as it was written: reasoning, content, and a line per call.
func (p RowPart) Body() string {
	m := p.Message
	if m == nil {
		return p.Text
	}
	var lines []string
	if m.ReasoningContent != "" {
		lines = append(lines, "(thinks) "+m.ReasoningContent)
	}
	if m.Content != "" {
		lines = append(lines, m.Content)
	}
	for _, call := range m.ToolCalls {
		lines = append(lines, strings.TrimSpace(call.ID+" "+call.Name)+"("+call.Arguments+")")
	}
	return strings.Join(lines, "\n")
}
