package tracing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"relabel"
)

const errorStatus = codes.Error

// place is an attempt at a trajectory: a trace.
type place struct {
	trajectory relabel.ID
	attempt    int
}

// derive hashes a place and a turn; turn -1 stands for the trace, 0 for the attempt.
func (p place) derive(turn int) [sha256.Size]byte {
	b := append([]byte("relabel span "), p.trajectory[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.attempt))
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(turn)))
}

func (p place) trace() (id trace.TraceID) {
	sum := p.derive(-1)
	copy(id[:], sum[:])
	return id
}

// turn is the span of a turn, or of the attempt if t is 0.
func (p place) turn(t int) (id trace.SpanID) {
	sum := p.derive(max(t, 0))
	copy(id[:], sum[:])
	return id
}

// answer is the span of a line of a batch.
func (p place) answer(line string) (id trace.SpanID) {
	whole := p.derive(0)
	sum := sha256.Sum256(append(whole[:], line...))
	copy(id[:], sum[:])
	return id
}

// context refers to a span of the place.
func (p place) context(id trace.SpanID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: p.trace(), SpanID: id, TraceFlags: trace.FlagsSampled, Remote: true})
}

// wantedKey finds the ids of the next span in a context.
type wantedKey struct{}

type wanted struct {
	trace trace.TraceID
	span  trace.SpanID // zero: any
}

func withWanted(ctx context.Context, t trace.TraceID, s trace.SpanID) context.Context {
	return context.WithValue(ctx, wantedKey{}, wanted{t, s})
}

// derivedIDs gives spans the ids that the context wants.
type derivedIDs struct{}

// NewIDs returns the ids of a span without a parent.
func (d derivedIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	w, _ := ctx.Value(wantedKey{}).(wanted)
	return w.trace, d.NewSpanID(ctx, w.trace)
}

// NewSpanID returns the id of a span with a parent.
func (derivedIDs) NewSpanID(ctx context.Context, _ trace.TraceID) (id trace.SpanID) {
	if w, ok := ctx.Value(wantedKey{}).(wanted); ok && w.span.IsValid() {
		return w.span
	}
	_, _ = rand.Read(id[:]) // it never fails
	return id
}
