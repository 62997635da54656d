package imported

import (
	"testing"

	"relabel"
)

func TestActionsAreParsedByTheToolsOfTheRun(t *testing.T) {
	tools := []relabel.Tool{{Name: "bash"}}
	for _, c := range []struct {
		calls []relabel.ToolCall
		want  relabel.ParseOutcome
	}{
		{nil, relabel.NoCall},
		{[]relabel.ToolCall{{Name: "bash", Arguments: `{"command":"ls"}`}}, relabel.ParsedOK},
		{[]relabel.ToolCall{{Name: "bash", Arguments: "{}"}, {Name: "edit", Arguments: "{}"}}, relabel.UnknownTool},
		{[]relabel.ToolCall{{Name: "bash", Arguments: `{"command`}}, relabel.MalformedCall},
		{[]relabel.ToolCall{{Name: "bash", Arguments: "null"}}, relabel.MalformedCall},
	} {
		if got := Parse(tools, relabel.Message{ToolCalls: c.calls}); got != c.want {
			t.Errorf("%v is %s, want %s", c.calls, got, c.want)
		}
	}
}
