package jinja

import (
	"time"

	"relabel"
)

// reasoningFields are the names of a message's reasoning; the first one found is used.
var reasoningFields = []string{"reasoning_content", "thinking", "reasoning"}

// RenderChat renders a conversation like transformers' apply_chat_template: tools and documents default
// to None, and add_generation_prompt to false. A message's reasoning is available as reasoning_content
// and as thinking, because the templates of gpt-oss and LFM read only the latter. Messages, tools and
// documents must be lists of objects. The variables are not changed.
func (t *Template) RenderChat(variables *Map, now time.Time) (string, error) {
	return t.renderChat(variables, now, true)
}

// renderChat is RenderChat; without alias a message's reasoning keeps only its original name.
func (t *Template) renderChat(variables *Map, now time.Time, alias bool) (string, error) {
	v := variables.copy()
	for _, d := range []struct {
		name  string
		value Value
	}{{"tools", nil}, {"documents", nil}, {"add_generation_prompt", false}} {
		if _, ok := v.Get(d.name); !ok {
			v.Set(d.name, d.value)
		}
	}
	for _, name := range []string{"messages", "tools", "documents"} {
		if err := checkObjects(v, name); err != nil {
			return "", err
		}
	}
	if messages, _ := v.Get("messages"); alias {
		v.Set("messages", aliasReasoning(messages.(*List)))
	}
	return t.Render(v, now)
}

// checkObjects refuses a variable that is not a list of objects; tools and documents may be None.
func checkObjects(v *Map, name string) error {
	given, _ := v.Get(name)
	if given == nil && name != "messages" {
		return nil
	}
	l, ok := given.(*List)
	for i := 0; ok && i < len(l.items); i++ {
		_, ok = l.items[i].(*Map)
	}
	if !ok {
		return relabel.Errorf(relabel.CodeInvalid, "not a list of objects").On(name)
	}
	return nil
}

// aliasReasoning sets reasoning_content and thinking to each message's reasoning.
func aliasReasoning(messages *List) *List {
	out := &List{append([]Value(nil), messages.items...)}
	for i, v := range out.items {
		m := v.(*Map)
		var reasoning Value
		for _, name := range reasoningFields {
			if reasoning, _ = m.Get(name); reasoning != nil {
				break
			}
		}
		if reasoning == nil {
			continue
		}
		c := NewMap()
		c.Set("thinking", reasoning)
		for j, k := range m.keys {
			c.Set(k.(string), m.vals[j])
		}
		c.Set("reasoning_content", reasoning)
		out.items[i] = c
	}
	return out
}
