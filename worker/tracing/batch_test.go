package tracing_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"relabel"
	"relabel/worker/tracing"
)

// batchOf is a batch of the claim's label of turn 2, sent an hour before now.
func batchOf() (relabel.BatchClaim, relabel.BatchItem) {
	sent := time.Now().Add(-time.Hour)
	c := relabel.BatchClaim{BatchFence: relabel.BatchFence{BatchID: relabel.NewID()}, Policy: student, Run: claim.Run,
		Batch: relabel.LabelBatch{Labels: 2, Round: 1, SentAt: &sent}}
	return c, relabel.BatchItem{TrajectoryID: claim.TrajectoryID, Attempt: claim.Attempt, T: 2}
}

func TestLabelsOfABatchAreBelowTheirTurnsAndNameTheBatch(t *testing.T) {
	r := newReceiver(t, nil)
	tracer := newTracer(t, tracing.Spans)
	batch, item := batchOf()
	for range 2 { // read again after a crash
		tracer.BatchAnswer(batch, item, relabel.BatchAnswer{CustomID: "a", Completion: answer})
	}
	tracer.BatchAnswer(batch, item, relabel.BatchAnswer{CustomID: "b", Err: relabel.Errorf(relabel.CodeContextOverflow, "too long for %s", secret)})
	tracer.Batch(batch, relabel.BatchDone, "completed")
	tracer.Turn(claim, relabel.Turn{T: 2, Executor: relabel.Student, StartedAt: begun, EndedAt: begun})
	tracer.Close()
	turn, whole, labels := r.only(t, "turn student"), r.only(t, "label_batch small"), r.named("chat small")
	if len(labels) != 3 || !bytes.Equal(labels[0].SpanId, labels[1].SpanId) || bytes.Equal(labels[0].SpanId, labels[2].SpanId) {
		t.Fatalf("the labels are %v", labels)
	}
	for _, l := range labels {
		if !bytes.Equal(l.TraceId, turn.TraceId) || !bytes.Equal(l.ParentSpanId, turn.SpanId) || len(l.Links) != 1 || !bytes.Equal(l.Links[0].SpanId, whole.SpanId) || !bytes.Equal(l.Links[0].TraceId, whole.TraceId) {
			t.Errorf("%s is below %x, with links %v", l.Name, l.ParentSpanId, l.Links)
		}
		if strings.Contains(l.String(), secret) || strings.Contains(l.String(), "Look.") {
			t.Errorf("it has a text: %s", l)
		}
	}
	wantAttributes(t, labels[0], map[string]string{"gen_ai.operation.name": "chat", "gen_ai.request.model": "small", "gen_ai.usage.output_tokens": "3", "gen_ai.conversation.id": claim.TrajectoryID.String(),
		"relabel.purpose": "label", "relabel.turn": "2", "relabel.attempt": "2", "relabel.batch": batch.BatchID.String()})
	wantAttributes(t, labels[2], map[string]string{"error.type": string(relabel.CodeContextOverflow)})
	wantAttributes(t, whole, map[string]string{"gen_ai.request.model": "small", "relabel.batch": batch.BatchID.String(), "relabel.run": "first", "relabel.batch.state": "done", "relabel.batch.labels": "2", "relabel.batch.round": "1"})
	if len(whole.ParentSpanId) != 0 || whole.EndTimeUnixNano-whole.StartTimeUnixNano < uint64(time.Hour) || whole.Status.Code == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the batch is %s", whole)
	}
}

func TestScoresAndVerdictsAreInTheTraceOfTheirAttempt(t *testing.T) {
	r := newReceiver(t, nil)
	tracer := newTracer(t, tracing.Spans)
	_, _ = tracer.Client(student, model{}).Score(context.Background(), relabel.ScoreRequest{IDs: make([]int32, 50), TrajectoryID: claim.TrajectoryID, Attempt: claim.Attempt, T: 2,
		Spans: []relabel.ScoreSpan{{T: 1, Start: 10, Length: 5}, {T: 2, Start: 40, Length: 10}}})
	regrading := relabel.RegradeClaim{RegradeFence: relabel.RegradeFence{RegradingID: relabel.NewID()}, Trajectory: relabel.Trajectory{ID: claim.TrajectoryID, Trail: claim.Attempt}}
	tracer.Regraded(regrading, begun, relabel.Verdict{Passed: true, Reason: "tests"}, nil)
	tracer.Attempt(tracing.Attempt{Claim: claim, StartedAt: begun})
	tracer.Close()
	root, score, verdict := r.only(t, "invoke_agent openhands"), r.only(t, "text_completion small"), r.only(t, "verify")
	for _, s := range []*otlp.Span{score, verdict} {
		if !bytes.Equal(s.TraceId, root.TraceId) || !bytes.Equal(s.ParentSpanId, root.SpanId) {
			t.Errorf("%s is not below the attempt", s.Name)
		}
	}
	wantAttributes(t, score, map[string]string{"gen_ai.operation.name": "text_completion", "gen_ai.request.model": "small", "gen_ai.usage.input_tokens": "50", "relabel.purpose": "score",
		"relabel.turn": "2", "relabel.scored.turns": "2", "relabel.scored.tokens": "15", "relabel.policy": "student@4", "error.type": string(relabel.CodeInternal)})
	wantAttributes(t, verdict, map[string]string{"gen_ai.evaluation.name": "verdict", "gen_ai.evaluation.score.value": "1", "relabel.regrading": regrading.RegradingID.String()})
}
