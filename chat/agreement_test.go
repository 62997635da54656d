package chat

import (
	"testing"

	"relabel"
)

func TestActionsAgreeWhenTheyDoTheSame(t *testing.T) {
	call := func(name, arguments string) relabel.ToolCall {
		return relabel.ToolCall{ID: name, Name: name, Arguments: arguments}
	}
	says := func(content string, calls ...relabel.ToolCall) relabel.Message {
		return relabel.Message{Content: content, ToolCalls: calls}
	}
	for _, c := range []struct {
		what string
		a, b relabel.Message
		want bool
	}{
		{"the same words", says("done"), says("done"), true},
		{"other words", says("done"), says("not done"), false},
		{"other words beside the same call", says("let me look", call("bash", `{"command":"ls"}`)), says("", call("bash", `{"command":"ls"}`)), true},
		{"other order and spaces of arguments", says("", call("edit", `{"a":1,"b":[2]}`)), says("", call("edit", `{ "b": [2], "a": 1 }`)), true},
		{"another argument", says("", call("bash", `{"command":"ls"}`)), says("", call("bash", `{"command":"ls -l"}`)), false},
		{"another tool", says("", call("bash", `{}`)), says("", call("finish", `{}`)), false},
		{"a further call", says("", call("bash", `{}`)), says("", call("bash", `{}`), call("finish", `{}`)), false},
		{"a call against words", says("x"), says("x", call("bash", `{}`)), false},
		{"large numbers apart", says("", call("f", `{"n":9007199254740993}`)), says("", call("f", `{"n":9007199254740992}`)), false},
		{"the same broken arguments", says("", call("bash", `{"command`)), says("", call("bash", `{"command`)), true},
		{"broken arguments against what they would be", says("", call("bash", `{"a":1} x`)), says("", call("bash", `{"a":1}`)), false},
		{"a call of a tool whose name is like another's with arguments", says("", call("a", `1`), call("b", `2`)), says("", call("a", "1\"\njson \"b")), false},
		{"words like a key", says(`json "bash" "{}"`), says("", call("bash", `{}`)), false},
		{"differently broken arguments", says("", call("bash", `{"command`)), says("", call("bash", `{"comman`)), false},
	} {
		if got := Agree(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
		if same := ActionKey(c.a) == ActionKey(c.b); same != c.want {
			t.Errorf("%s: the keys are the same: %v", c.what, same)
		}
		if Agree(c.a, c.b) != Agree(c.b, c.a) {
			t.Errorf("%s: not the same both ways round", c.what)
		}
	}
}
