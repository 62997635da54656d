package chat

import (
	"math"
	"testing"

	"relabel"
)

func TestDistanceCountsCommonWords(t *testing.T) {
	call := func(arguments string) relabel.Message {
		return relabel.Message{ToolCalls: []relabel.ToolCall{{Name: "run", Arguments: arguments}}}
	}
	for _, try := range []struct {
		a, b relabel.Message
		want float64
	}{
		{call(`{"command":"ls"}`), call(`{ "command": "ls" }`), 0},
		{relabel.Message{Content: "yes"}, relabel.Message{Content: "no"}, 1},
		{relabel.Message{Content: "a b"}, relabel.Message{Content: "b a"}, 0},
		{call(`{"command":"ls"}`), call(`{"command":"ls -l"}`), 0.11},
		{call(`{"command":"a\nb"}`), call(`{"command":"a b"}`), 0},
		{relabel.Message{ToolCalls: []relabel.ToolCall{{Name: "look", Arguments: `{"x":[1]}`}}}, call(`{"command":"<ls>"}`), 1},
		{call(`not JSON`), call(`not {`), 0.2},
		{relabel.Message{}, relabel.Message{}, 0},
		{relabel.Message{Content: "\xff"}, relabel.Message{Content: "\xff"}, 0},
	} {
		if got, back := Distance(try.a, try.b), Distance(try.b, try.a); math.Abs(got-try.want) > 0.05 || got != back {
			t.Errorf("%+v and %+v: %v and %v, want %v", try.a, try.b, got, back, try.want)
		}
	}
	if d := Distance(call(`{"command":"pytest"}`), relabel.Message{Content: "I give up"}); d < 0.8 {
		t.Errorf("unlike actions have the distance %v", d)
	}
}
