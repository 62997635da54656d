package tracing

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"relabel"
)

// Turn sends the span of a committed turn, and one per tool call. Its model calls are sent by Client.
func (t *Tracer) Turn(c relabel.Claim, turn relabel.Turn) {
	if t == nil {
		return
	}
	at := placeOf(c)
	id := at.turn(turn.T)
	t.send(span{place: at, id: id, parent: at.turn(0), name: "turn " + string(turn.Executor), kind: trace.SpanKindInternal,
		begun: turn.StartedAt, ended: turn.EndedAt, attributes: []attribute.KeyValue{
			semconv.GenAIConversationID(c.TrajectoryID.String()), attribute.Int("relabel.turn", turn.T), attribute.Int("relabel.attempt", c.Attempt),
			attribute.String("relabel.executor", string(turn.Executor)), attribute.String("relabel.parse", string(turn.Action.Parse)),
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

func (t *Tracer) tool(at place, parent trace.SpanID, turn relabel.Turn, o relabel.Observation, begun, ended time.Time) span {
	s := span{place: at, parent: parent, name: named(semconv.GenAIOperationNameExecuteTool, plain(o.Tool)), kind: trace.SpanKindInternal, begun: begun, ended: ended}
	s.attributes = []attribute.KeyValue{semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(plain(o.Tool)), semconv.GenAIToolType("function"),
		semconv.GenAIToolCallID(o.CallID), semconv.GenAIConversationID(at.trajectory.String()), attribute.Int("relabel.turn", turn.T)}
	if o.ExitCode != nil {
		s.attributes = append(s.attributes, attribute.Int("relabel.exit_code", *o.ExitCode))
	}
	if o.Failed {
		s.failed = "tool"
	}
	if t.content {
		s.attributes = append(s.attributes, callResult.String(plain(o.Content)))
		for _, c := range turn.Action.Message.Canonical(turn.T).ToolCalls {
			if c.ID == o.CallID {
				s.attributes = append(s.attributes, callArguments.String(plain(c.Arguments)))
			}
		}
	}
	return s
}
