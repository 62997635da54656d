package tracing

import (
	"context"
	"testing"

	"github.com/rs/zerolog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// held is an exporter that takes nothing until it is closed.
type held chan struct{}

func (h held) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	<-h
	return nil
}

func (held) Shutdown(context.Context) error { return nil }

func TestDroppedSpansDoNotCountAmongThoseThatWait(t *testing.T) {
	to := make(held)
	g := newGate(to, zerolog.Nop())
	sampled := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled})
	span := tracetest.SpanStub{Name: "turn", SpanContext: sampled}.Snapshot()
	for range mostSpans + 1000 {
		g.OnEnd(span)
	}
	if n := g.dropped.Load(); n != 1000 || g.bytes.Load() != mostSpans*sizeOf(span) {
		t.Errorf("%d are dropped, and %d bytes wait", n, g.bytes.Load())
	}
	close(to)
	if err := g.ForceFlush(t.Context()); err != nil || g.waiting() != 0 || g.bytes.Load() != 0 {
		t.Errorf("%d spans of %d bytes wait: %v", g.waiting(), g.bytes.Load(), err)
	}
	if err := g.SpanProcessor.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
