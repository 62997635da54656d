package tracing

import (
	"time"

	"relabel"
)

// Turn sends the span of a committed turn, and one per tool call. Its model calls are sent by Client.
func (t *Tracer) Turn(c relabel.Claim, turn relabel.Turn) {
	if t == nil {
		return
	}
	at := placeOf(c)
	id := at.turn(turn.T)
	t.send(span{place: at, id: id, parent: at.turn(0), name: "turn " + string(turn.Executor), kind: kindInternal,
		begun: turn.StartedAt, ended: turn.EndedAt, attributes: []attribute{
			{conversationID, c.TrajectoryID}, {"relabel.turn", turn.T}, {"relabel.attempt", c.Attempt},
			{"relabel.executor", turn.Executor}, {"relabel.parse", turn.Action.Parse},
		}})
	begun := sandboxSince(turn)
	for _, o := range turn.Observations {
		if o.CallID == "" {
			continue
		}
		ended := begun.Add(time.Duration(o.Millis) * time.Millisecond)
		t.send(t.tool(at, id, turn, o, begun, ended))
		begun = ended
	}
}

// sandboxSince is when the first tool call of a turn began, by the measured parts of the turn: the sandbox came
// last, but for the wait for the call's record.
func sandboxSince(turn relabel.Turn) time.Time {
	return turn.EndedAt.Add(-time.Duration(turn.Time.Sandbox+turn.Time.Database) * time.Millisecond)
}

func (t *Tracer) tool(at place, parent spanID, turn relabel.Turn, o relabel.Observation, begun, ended time.Time) span {
	s := span{place: at, parent: parent, name: operationTool + " " + o.Tool, kind: kindInternal, begun: begun, ended: ended}
	s.attributes = []attribute{{operationName, operationTool}, {toolName, o.Tool}, {toolType, "function"},
		{toolCallID, o.CallID}, {conversationID, at.trajectory}, {"relabel.turn", turn.T}}
	if o.ExitCode != nil {
		s.attributes = append(s.attributes, attribute{"relabel.exit_code", *o.ExitCode})
	}
	if o.Failed {
		s.failed = "tool"
	}
	if t.content {
		s.attributes = append(s.attributes, attribute{callResult, o.Content})
		for _, c := range turn.Action.Message.Canonical(turn.T).ToolCalls {
			if c.ID == o.CallID {
				s.attributes = append(s.attributes, attribute{callArguments, c.Arguments})
			}
		}
	}
	return s
}
