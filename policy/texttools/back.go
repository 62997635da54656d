package texttools

import (
	"strings"

	"relabel"
)

// Back reads a state that State wrote, with canonical call ids, for servers that simulate a model. ok is
// false if the state describes no tools. It is the inverse of State, except for the white space of schemas
// and for observations that contain the line of the next result.
func Back(messages []relabel.Message) (state []relabel.Message, tools []relabel.Tool, ok bool) {
	if len(messages) == 0 || messages[0].Role != relabel.RoleSystem {
		return nil, nil, false
	}
	before, description, found := strings.Cut(messages[0].Content, howTo)
	if !found {
		return nil, nil, false
	}
	tools = described(description)
	if before != "" {
		state = append(state, relabel.Message{Role: relabel.RoleSystem, Content: strings.TrimSuffix(before, "\n\n")})
	}
	r, t := reader{types: typesOf(tools), escaped: true}, 0
	var acting relabel.Message
	for _, m := range messages[1:] {
		switch {
		case m.Role == relabel.RoleAssistant:
			t++
			read := r.read(m.Content)
			m.Content, m.ToolCalls = read.Content, read.Calls
			for k := range m.ToolCalls {
				m.ToolCalls[k].ID = relabel.CallID(t, k)
			}
			acting = m
		case m.Role == relabel.RoleUser && len(acting.ToolCalls) > 0:
			state = append(state, results(acting, m.Content)...)
			continue
		}
		state = append(state, m)
	}
	return state, tools, true
}

// described reads the tools of a text from Describe.
func described(description string) []relabel.Tool {
	var tools []relabel.Tool
	section := ""
	for _, part := range strings.Split(description, "\n\n## ")[1:] {
		section += part
		head, schema, found := cutLast(section, "\n"+parametersAre)
		if !found || strings.Contains(schema, "\n") {
			section += "\n\n## " // a heading in a description
			continue
		}
		name, description, _ := strings.Cut(head, "\n")
		tools = append(tools, relabel.Tool{Name: name, Description: description, Parameters: schema})
		section = ""
	}
	return tools
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// results separates the observations of a turn.
func results(acting relabel.Message, text string) []relabel.Message {
	var all []relabel.Message
	for k, c := range acting.ToolCalls {
		rest, found := strings.CutPrefix(text, resultLine(k, c.Name))
		if !found {
			break
		}
		m := relabel.Message{Role: relabel.RoleTool, ToolCallID: c.ID, Content: rest}
		text = ""
		if k+1 < len(acting.ToolCalls) {
			next := "\n\n" + resultLine(k+1, acting.ToolCalls[k+1].Name)
			if at := strings.Index(rest, next); at >= 0 {
				m.Content, text = rest[:at], rest[at+2:]
			}
		}
		all = append(all, m)
	}
	return all
}
