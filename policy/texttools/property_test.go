package texttools

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

var tools = []relabel.Tool{
	{Name: "execute_bash", Description: "Run a command.", Parameters: `{"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}`},
	{Name: "edit", Description: "Edit a file.\n\n## not a tool", Parameters: `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},` +
		`"range":{"type":["array","null"]},"text":{"anyOf":[{"type":"string"},{"type":"null"}]},"force":{"type":"boolean"},"free":{}}}`},
	{Name: "finish", Description: "End.", Parameters: `{"type":"object","properties":{}}`},
}

// nasty are texts that parsers trip over.
var nasty = []string{"", "\n", "a\n", "\n\na\n\n", `"`, `\`, `'`, "\x00", "é世界🙂", "<|im_end|>", "<|im_start|>user\n", "</parameter>", "<parameter=x>",
	"</function>", "<function=execute_bash>", "\n</parameter>\n</function>", "<tool_call>", "</tool_call>", "<think>", "</think>", "&lt;/parameter>",
	"&amp;lt;/parameter>", "&lt;", "&amp;", "<a href=\"x\">", "{\"name\": \"x\"}", "5", "null", "[1, 2]", "\r\n", "\u2028", "Result of call 1 (x):\n", "\xed\xa0\xbd", "\xff"}

// text draws any text, mostly of what is nasty.
var text = rapid.Map(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(nasty), rapid.String())), func(parts []string) string { return strings.Join(parts, "") })

// arguments draws JSON objects as models write them, and what is none.
var arguments = rapid.Custom(func(t *rapid.T) string {
	sep := rapid.SampledFrom([]string{": ", ":", " : "}).Draw(t, "colon")
	args := "{"
	for i := range rapid.IntRange(0, 4).Draw(t, "parameters") {
		if i > 0 {
			args += rapid.SampledFrom([]string{", ", ",", ",\n  "}).Draw(t, "comma")
		}
		key := rapid.SampledFrom([]string{"command", "path", "line", "range", "text", "force", "free", "other", "odd key", "<function=x>"}).Draw(t, "key")
		args += string(chat.AppendString(nil, key)) + sep
		args += rapid.OneOf(
			rapid.Map(text, func(s string) string { return string(chat.AppendString(nil, s)) }),
			rapid.SampledFrom([]string{"1", "1.0", "-1e5", "true", "null", "[1, 20]", "[ 1,20 ]", `{"a": {"b": "</function>"}}`, `"\u00e9\/\ud83d"`, `""`, "NaN"}),
		).Draw(t, "value")
	}
	whole := args + "}"
	return rapid.OneOf(rapid.Just(whole), rapid.Just(whole), rapid.Just(args), text, rapid.SampledFrom([]string{`{}`, `{"a":1,"a":2}`, "[1]", "{'command': 'ls'}"})).Draw(t, "arguments")
})

var action = rapid.Custom(func(t *rapid.T) relabel.Message {
	m := relabel.Message{Role: relabel.RoleAssistant, Content: text.Draw(t, "content")}
	for k := range rapid.IntRange(0, 3).Draw(t, "calls") {
		name := rapid.SampledFrom([]string{"execute_bash", "edit", "finish", "no_such_tool", "a.b-c", "é"}).Draw(t, "name")
		args := arguments.Draw(t, "arguments")
		if strings.Trim(args, " \t\r\n") == "" {
			args = "{}" // a block with nothing in it
		}
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{ID: relabel.CallID(1, k), Name: name, Arguments: args})
	}
	return m
})

func TestAnActionInTextIsReadBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := action.Draw(t, "action")
		written := Action(m, tools)
		r := Read(written, tools)
		if len(m.ToolCalls) == 0 && r.Form == relabel.BareJSON {
			t.Skip("words that are a bare call")
		}
		for k := range r.Calls {
			r.Calls[k].ID = relabel.CallID(1, k)
		}
		if r.Content != m.Content || !reflect.DeepEqual(r.Calls, m.ToolCalls) {
			t.Fatalf("%q\n%+v\nbecame\n%+v", written, m, r)
		}
	})
}

func TestEscapesAreUndoneAtAnyDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		if back := unescape(escape(s)); back != s {
			t.Fatalf("%q became %q", s, back)
		}
		if strings.Contains(escape(s), "</parameter>") {
			t.Fatalf("%q", escape(s))
		}
	})
}

func TestAnyAnswerIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		for _, r := range []Reading{Read(s, tools), Recognise(s, tools)} {
			if (r.Form == "") != (len(r.Calls) == 0) {
				t.Fatalf("%q: %+v", s, r)
			}
		}
	})
}

func TestALongerStateBeginsWithTheBytesOfAShorterOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opening := []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "x"}}
		state := opening
		before := chat.AppendMessages(nil, State(state, tools))
		for turn := range rapid.IntRange(1, 4).Draw(t, "turns") {
			m := action.Draw(t, "action").Canonical(turn + 1)
			state = append(state, m)
			for _, c := range m.ToolCalls {
				state = append(state, relabel.Message{Role: relabel.RoleTool, Content: text.Draw(t, "observation"), ToolCallID: c.ID})
			}
			if len(m.ToolCalls) == 0 {
				state = append(state, relabel.Message{Role: relabel.RoleUser, Content: text.Draw(t, "observation")})
			}
			kept := chat.AppendMessages(nil, state)
			sent := State(state, tools)
			after := chat.AppendMessages(nil, sent)
			if !strings.HasPrefix(string(after), strings.TrimSuffix(string(before), "]")) {
				t.Fatalf("%s\n%s", before, after)
			}
			if string(chat.AppendMessages(nil, state)) != string(kept) {
				t.Fatal("the canonical messages were changed")
			}
			for i, m := range sent {
				if m.Role == relabel.RoleTool || len(m.ToolCalls) > 0 || m.ToolCallID != "" || i > 0 && m.Role == sent[i-1].Role {
					t.Fatalf("message %d is no plain text, or its role stands twice: %+v", i, m)
				}
			}
			before = after
		}
	})
}

func TestAStateIsReadBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := []relabel.Message{{Role: relabel.RoleSystem, Content: "You repair code."}, {Role: relabel.RoleUser, Content: "x"}}
		for turn := range rapid.IntRange(0, 4).Draw(t, "turns") {
			m := action.Draw(t, "action").Canonical(turn + 1)
			if r := Read(Action(m, tools), tools); r.Form == relabel.BareJSON {
				t.Skip("words that are a bare call")
			}
			if len(m.ToolCalls) == 0 {
				m.ToolCalls = nil
			}
			state = append(state, m)
			for range m.ToolCalls {
				state = append(state, relabel.Message{Role: relabel.RoleTool, Content: rapid.StringMatching(`[a-z\n#]*`).Draw(t, "observation"), ToolCallID: relabel.CallID(turn+1, len(state)-indexOf(state, turn+1)-1)})
			}
		}
		back, offered, ok := Back(State(state, tools))
		if !ok || !reflect.DeepEqual(back, state) {
			t.Fatalf("%v\n%+v\nbecame\n%+v", ok, state, back)
		}
		if again, _, _ := Back(State(state, offered)); !reflect.DeepEqual(again, state) {
			t.Fatalf("%+v", offered)
		}
	})
}

// indexOf finds the t-th action of a state.
func indexOf(state []relabel.Message, t int) int {
	for i, m := range state {
		if m.Role == relabel.RoleAssistant {
			if t--; t == 0 {
				return i
			}
		}
	}
	return -1
}
