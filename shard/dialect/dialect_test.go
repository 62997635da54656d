package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/dialect"
)

var messages = []relabel.Message{
	{Role: "system", Content: "You repair code."},
	{Role: "user", Content: "It fails.\n\"q\" é 🗝"},
	{Role: "assistant", Content: "I look.", ReasoningContent: "First", ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "run", Arguments: "{\"b\": 1.0,\n \"a\": 1e5}"}}},
	{Role: "tool", Content: "ok", ToolCallID: "call_1_0"},
	{Role: "assistant", Content: "Done."},
}

// lineOf encodes the messages, of which the given ones are trained on.
func lineOf(f dialect.Form, trained ...int) string {
	var encoded []dialect.Message
	for _, m := range messages {
		encoded = append(encoded, f.Encode(m))
	}
	return string(f.Line("t/2", encoded, func(i int) bool { return slices.Contains(trained, i) }))
}

func TestLinesAreWhatTheirReadersExpect(t *testing.T) {
	weight := dialect.Form{Dialect: relabel.DialectWeight, Tools: `[{"type":"function"}]`}
	want := `{"messages":[{"role":"system","content":"You repair code."},{"role":"user","content":"It fails.\n\"q\" é 🗝"},` +
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"run","arguments":"{\"b\": 1.0,\n \"a\": 1e5}"}}],"weight":0},` +
		`{"role":"tool","content":"ok","tool_call_id":"call_1_0"},{"role":"assistant","content":"Done.","weight":1}],"tools":[{"type":"function"}]}`
	if got := lineOf(weight, 4); got != want {
		t.Errorf("weight:\n%s\nwant\n%s", got, want)
	}
	weight.Tools = "[{\"type\":\"function\",\n\"function\":{\"name\":\"run\",\r\n\"parameters\":{}}}]" // as in a file that gives its tools as text
	if got := lineOf(weight, 4); strings.ContainsAny(got, "\n\r") || !strings.HasSuffix(got, `"tools":[{"type":"function", "function":{"name":"run",  "parameters":{}}}]}`) {
		t.Errorf("tools of several lines: %s", got)
	}
	flat := dialect.Form{Dialect: relabel.DialectFlat, Tools: "[]"}
	if got := lineOf(flat, 4); !strings.HasPrefix(got, `{"row_id":"t/2","messages":[{"role":"system",`) || strings.Contains(got, "tools") || strings.Contains(got, "weight") {
		t.Errorf("flat: %s", got)
	}
	object := dialect.Form{Dialect: relabel.DialectMessages, Arguments: relabel.ArgumentsObject}
	if got, want := object.Object(messages[2]), `{"role":"assistant","content":"I look.","reasoning_content":"First","tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"run","arguments":{"b": 1.0,  "a": 1e5}}}]}`; got != want {
		t.Errorf("arguments as an object:\n%s\nwant\n%s", got, want)
	}
	ids := dialect.TokenLine("t/trunk0", []int32{1, 2, 3}, []int32{-100, 2, -100}, []float32{0, 0.5, 0})
	if want := `{"row_id":"t/trunk0","messages":[{"role":"assistant","content":{"token_ids":[1,2,3],"loss_scale":[0.0,0.5,0.0]}}]}`; string(ids) != want {
		t.Errorf("loss:\n%s\nwant\n%s", ids, want)
	}
}

func TestALineIsReadBack(t *testing.T) {
	f := dialect.Form{Dialect: relabel.DialectWeight, Tools: "[]"}
	line := lineOf(f, 2, 4)
	c, err := f.Read([]byte(line))
	if err != nil || len(c.Messages) != 5 || !slices.Equal(c.Trained, []bool{false, false, true, false, true}) {
		t.Fatalf("%+v, %v", c, err)
	}
	for what, altered := range map[string]string{
		"a space":             strings.Replace(line, `,"weight":1`, `, "weight":1`, 1),
		"a flag of another":   strings.Replace(line, `"weight":1`, `"train":true`, 1),
		"no flag":             strings.Replace(line, `,"weight":0`, ``, 1) + " ",
		"a name":              strings.Replace(line, `{"messages"`, `{"row_id":"x","messages"`, 1),
		"a flag of the tools": strings.Replace(line, `"tool_call_id":"call_1_0"`, `"tool_call_id":"call_1_0","weight":0`, 1),
	} {
		if _, err := f.Read([]byte(altered)); err == nil {
			t.Errorf("%s: it is read as %s", what, altered)
		}
	}
	id, ids, labels, weights, err := dialect.ReadTokenLine(dialect.TokenLine("a/1", []int32{5, 6}, []int32{-100, 6}, []float32{0, 2}), nil, nil, nil)
	if err != nil || id != "a/1" || !slices.Equal(ids, []int32{5, 6}) || !slices.Equal(labels, []int32{-100, 6}) || !slices.Equal(weights, []float32{0, 2}) {
		t.Errorf("%s %v %v %v %v", id, ids, labels, weights, err)
	}
}
