package tracing

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Bounds of the spans that wait for the collector.
const (
	mostSpans = 8192
	mostBytes = 64 << 20 // of names and attributes
	mostBatch = 512
	sendLimit = 10 * time.Second // of a batch, with its retries
	complain  = time.Minute      // between two lines in the log
)

// gate is the batch processor of the SDK, with bounds that it counts: within them that processor drops nothing.
// It is also the exporter of that processor.
type gate struct {
	sdktrace.SpanProcessor
	to                    sdktrace.SpanExporter
	log                   zerolog.Logger
	spans, bytes          atomic.Int64 // that wait, or are being sent
	sent, failed, dropped atomic.Int64
	complained            atomic.Int64 // when, in Unix nanoseconds
}

func newGate(to sdktrace.SpanExporter, log zerolog.Logger) *gate {
	g := &gate{to: to, log: log}
	g.SpanProcessor = sdktrace.NewBatchSpanProcessor(counted{g}, sdktrace.WithMaxQueueSize(mostSpans),
		sdktrace.WithMaxExportBatchSize(mostBatch), sdktrace.WithExportTimeout(sendLimit))
	return g
}

// waiting is the number of spans that were neither sent nor given up.
func (g *gate) waiting() int64 { return g.spans.Load() }

// OnEnd takes a span, or drops it if too many wait.
func (g *gate) OnEnd(s sdktrace.ReadOnlySpan) {
	size := sizeOf(s)
	spans, bytes := g.spans.Add(1), g.bytes.Add(size)
	if spans > mostSpans || bytes > mostBytes {
		g.leave(1, size)
		g.dropped.Add(1)
		g.say(nil)
		return
	}
	g.SpanProcessor.OnEnd(s)
}

func (g *gate) leave(spans, bytes int64) {
	g.spans.Add(-spans)
	g.bytes.Add(-bytes)
}

// say logs that spans are lost, now and then.
func (g *gate) say(err error) {
	now, last := time.Now().UnixNano(), g.complained.Load()
	if now-last < int64(complain) || !g.complained.CompareAndSwap(last, now) {
		return
	}
	g.log.Warn().AnErr("cause", err).Int64("failed", g.failed.Load()).Int64("dropped", g.dropped.Load()).
		Msg("the collector does not take spans; rollouts continue without them")
}

// counted is the exporter: it counts what the collector took.
type counted struct{ *gate }

// ExportSpans sends a batch.
func (c counted) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	n, bytes := int64(len(spans)), int64(0)
	for _, s := range spans {
		bytes += sizeOf(s)
	}
	err := c.to.ExportSpans(ctx, spans)
	c.leave(n, bytes)
	if err != nil {
		c.failed.Add(n)
		c.say(err)
		return err
	}
	c.sent.Add(n)
	return nil
}

// Shutdown closes the connection.
func (c counted) Shutdown(ctx context.Context) error { return c.to.Shutdown(ctx) }

// sizeOf is about the memory of a span, in bytes.
func sizeOf(s sdktrace.ReadOnlySpan) int64 {
	size := int64(500 + len(s.Name()))
	for _, a := range s.Attributes() {
		size += int64(len(a.Key)) + 50
		if a.Value.Type() == attribute.STRING {
			size += int64(len(a.Value.AsString()))
		}
	}
	return size
}
