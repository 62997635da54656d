package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"relabel"
)

// wireText draws text that JSON can carry: any characters, and lone surrogates.
func wireText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"\x00", "\x1b[31m", "\x7f", "\u2028", "\ufffd", "🙂", "\"", `\`, `\u0041`, "</script>", "\r\n",
			"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xaf\xbf"}),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(p []string) string { return strings.Join(p, "") }).
		Filter(validText)
}

func drawMessage(t *rapid.T) relabel.Message {
	m := relabel.Message{
		Role:             rapid.SampledFrom([]string{relabel.RoleSystem, relabel.RoleUser, relabel.RoleAssistant, relabel.RoleTool}).Draw(t, "role"),
		Content:          wireText().Draw(t, "content"),
		ReasoningContent: wireText().Draw(t, "reasoning"),
		ToolCallID:       wireText().Draw(t, "call id"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		m.ToolCalls = append(m.ToolCalls, relabel.ToolCall{
			ID: wireText().Draw(t, "id"), Name: wireText().Draw(t, "name"), Arguments: wireText().Draw(t, "arguments")})
	}
	return m
}

func equalMessages(a, b relabel.Message) bool {
	return string(AppendMessage(nil, a)) == string(AppendMessage(nil, b)) &&
		a.Content == b.Content && a.ReasoningContent == b.ReasoningContent
}

func TestAMessageSurvivesItsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		raw := AppendMessage(nil, m)
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("not JSON in UTF-8: %q", raw)
		}
		back, err := DecodeMessage(raw)
		if err != nil {
			t.Fatal(err)
		}
		if back.Role != m.Role || back.Content != m.Content || back.ReasoningContent != m.ReasoningContent || back.ToolCallID != m.ToolCallID {
			t.Fatalf("%q came back as %q", m, back)
		}
		if len(back.ToolCalls) != len(m.ToolCalls) {
			t.Fatalf("%d calls became %d", len(m.ToolCalls), len(back.ToolCalls))
		}
		for k := range m.ToolCalls {
			if back.ToolCalls[k] != m.ToolCalls[k] {
				t.Fatalf("call %q came back as %q", m.ToolCalls[k], back.ToolCalls[k])
			}
		}
		if !ValidText(m) {
			t.Fatal("ValidText refuses what JSON carried")
		}
	})
}

func TestAStateIsAPrefixOfTheNextOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var state []relabel.Message
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			before := AppendMessages(nil, state)
			state = append(state, drawMessage(t))
			after := AppendMessages(nil, state)
			if !strings.HasPrefix(string(after), strings.TrimSuffix(string(before), "]")) {
				t.Fatal("an earlier message's bytes moved")
			}
		}
	})
}

func TestStringsAgreeWithTheStandardDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil || back != s {
			t.Fatalf("%q: %q, %v", s, back, err)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeText(std); got != s {
			t.Fatalf("%s: %q, want %q", std, got, s)
		}
	})
}

func TestDecodingKeepsTheModelsBytes(t *testing.T) {
	for name, c := range map[string]struct{ raw, content, arguments string }{
		"absent content":          {`{"role":"assistant"}`, "", ""},
		"null content":            {`{"role":"assistant","content":null}`, "", ""},
		"parts":                   {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"\u00e9"}]}`, "aé", ""},
		"escaped pair":            {`{"content":"\ud83d\ude42"}`, "🙂", ""},
		"lone high surrogate":     {`{"content":"a\ud83dz"}`, "a\xed\xa0\xbdz", ""},
		"lone low surrogate":      {`{"content":"\ude42"}`, "\xed\xb9\x82", ""},
		"high then escaped text":  {`{"content":"\ud83d\n"}`, "\xed\xa0\xbd\n", ""},
		"high at the end":         {`{"content":"\ud83d"}`, "\xed\xa0\xbd", ""},
		"broken UTF-8":            {"{\"content\":\"a\xffb\xc3\"}", "a\xffb\xc3", ""},
		"NUL":                     {`{"content":"a\u0000b"}`, "a\x00b", ""},
		"order, repeats, numbers": {`{"tool_calls":[{"function":{"name":"f","arguments":"{\"b\":1.0,\"a\":1e400,\"b\":2}"}}]}`, "", `{"b":1.0,"a":1e400,"b":2}`},
		"cut arguments":           {`{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\": \"x"}}]}`, "", `{"a": "x`},
		"arguments as an object":  {`{"tool_calls":[{"id":7,"function":{"name":"f","arguments":{"b": 1,"a":[]}}}]}`, "", `{"b": 1,"a":[]}`},
		"null arguments":          {`{"tool_calls":[{"id":null,"function":{"name":"f","arguments":null}}]}`, "", ""},
		"space around everything": {" { \"content\" : \"x\" , \"tool_calls\" : null } ", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := DecodeMessage([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if m.Content != c.content {
				t.Errorf("content %q, want %q", m.Content, c.content)
			}
			if c.arguments != "" && (len(m.ToolCalls) != 1 || m.ToolCalls[0].Arguments != c.arguments) {
				t.Errorf("calls %q, want arguments %q", m.ToolCalls, c.arguments)
			}
		})
	}
}

func TestReasoningIsReadUnderBothNames(t *testing.T) {
	for _, raw := range []string{
		`{"reasoning_content":"hm"}`, `{"reasoning":"hm"}`, `{"reasoning_content":null,"reasoning":"hm"}`, `{"reasoning":"","reasoning_content":"hm"}`,
	} {
		if m, err := DecodeMessage([]byte(raw)); err != nil || m.ReasoningContent != "hm" {
			t.Errorf("%s: %q, %v", raw, m.ReasoningContent, err)
		}
	}
}

func TestOtherJSONThanAMessageIsRefused(t *testing.T) {
	for _, raw := range []string{"", " ", "null", `"hi"`, "[]", "3", "{", `{"tool_calls":"x"}`, `{"content":"a`} {
		if m, err := DecodeMessage([]byte(raw)); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%q: %v, %v", raw, m, err)
		}
	}
}

func TestTextThatJSONCannotRepresentIsReported(t *testing.T) {
	for _, s := range []string{"\xff", "a\xc3", "\xed\xa0", "\xf8\x88\x80\x80\x80", "\xed\xa0\xbd\xed\xb9\x82"} {
		m := relabel.Message{Role: relabel.RoleAssistant, Content: s}
		if ValidText(m) {
			t.Errorf("%q passes", s)
		}
		if raw := AppendMessage(nil, m); !json.Valid(raw) {
			t.Errorf("%q: %q is no JSON", s, raw)
		}
	}
}

func TestToolsKeepTheirSchemas(t *testing.T) {
	got := string(AppendTools(nil, []relabel.Tool{{Name: "run", Description: "Run \"it\".", Parameters: `{ "z": 1, "a": 2 }`}, {Name: "stop"}}))
	want := `[{"type":"function","function":{"name":"run","description":"Run \"it\".","parameters":{ "z": 1, "a": 2 }}},` +
		`{"type":"function","function":{"name":"stop","description":""}}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","content":"\ud83dx","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{"}}]}`))
	f.Add([]byte(`{"content":[{"text":"\ud83d"},{"text":"\ude42"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := DecodeMessage(raw)
		if err != nil {
			return
		}
		again := AppendMessage(nil, m)
		back, err := DecodeMessage(again)
		if err != nil {
			t.Fatalf("%q: %v", again, err)
		}
		if ValidText(m) && validText(m.Role) && validText(m.ToolCallID) && !equalMessages(m, back) {
			t.Fatalf("%q became %q", m, back)
		}
	})
}
