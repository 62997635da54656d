// Package tracing sends rollouts as OpenTelemetry spans to a collector, by OTLP over HTTP, with the attributes of
// the semantic conventions for generative AI. A collector that is slow or down never delays a rollout: spans
// are then dropped and counted.
//
// One trace is an attempt at a trajectory: an invoke_agent span, below it a span per turn with its model calls
// and tool calls, the start of the sandbox, and the verification. The ids of traces, attempts and turns are
// derived from the trajectory, so that labels that another process requests later join the trace.
package tracing

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0" // the last with attributes of generative AI
	"go.opentelemetry.io/otel/trace"

	"relabel"
)

// Mode says what is sent.
type Mode string

// The modes.
const (
	Off     Mode = "off"
	Spans   Mode = "spans"   // without texts of prompts, models and tools
	Content Mode = "content" // with them
)

// Config is what a Tracer needs. The variables OTEL_EXPORTER_OTLP_* give the collector's address, headers,
// certificates and timeout, and OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES name this process.
type Config struct {
	Mode    Mode
	Version string // of relabel
	Worker  string // name of this process
	Log     zerolog.Logger
}

// Tracer sends spans. A nil Tracer sends nothing.
type Tracer struct {
	content  bool
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	gate     *gate
	log      zerolog.Logger
}

// closeLimit bounds how long Close waits for the collector.
const closeLimit = 5 * time.Second

// CheckEnvironment returns CodeInvalid if the environment asks for a protocol other than http/protobuf.
func CheckEnvironment() error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if v := os.Getenv(name); v != "" && v != "http/protobuf" {
			return relabel.Errorf(relabel.CodeInvalid, "is %q: relabel sends spans by http/protobuf only; unset it, and give the collector's HTTP port (4318)", v).On(name)
		}
	}
	return nil
}

// New returns a tracer, nil if the mode is Off. It does not connect: a collector may start later.
func New(ctx context.Context, c Config) (*Tracer, error) {
	if c.Mode == Off || c.Mode == "" {
		return nil, nil
	}
	if err := CheckEnvironment(); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the settings of the collector of spans (OTEL_EXPORTER_OTLP_…) cannot be used").Because(err)
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(semconv.ServiceName("relabel"),
		semconv.ServiceVersion(c.Version), semconv.ServiceInstanceID(c.Worker)), resource.WithFromEnv())
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "OTEL_RESOURCE_ATTRIBUTES cannot be read").Because(err)
	}
	t := &Tracer{content: c.Mode == Content, gate: newGate(exporter, c.Log), log: c.Log}
	// The SDK reports each failed batch to a global handler, which prints to standard error: gate counts and logs them.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithResource(of), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithIDGenerator(derivedIDs{}), sdktrace.WithSpanProcessor(t.gate))
	t.tracer = t.provider.Tracer("relabel", trace.WithInstrumentationVersion(c.Version), trace.WithSchemaURL(semconv.SchemaURL))
	return t, nil
}

// Counts are the spans of this process so far.
type Counts struct {
	Sent    int64 // that the collector took
	Failed  int64 // that could not be sent
	Dropped int64 // that were not tried, because too many waited
}

// Counts returns the counts so far; zero for a nil tracer.
func (t *Tracer) Counts() Counts {
	if t == nil {
		return Counts{}
	}
	return Counts{Sent: t.gate.sent.Load(), Failed: t.gate.failed.Load(), Dropped: t.gate.dropped.Load()}
}

// Close sends the spans that wait, for some seconds at most, and logs what could not be sent.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // gate counts what was not sent
	left := t.gate.waiting()
	if c := t.Counts(); c.Failed > 0 || c.Dropped > 0 || left > 0 {
		t.log.Warn().Int64("sent", c.Sent).Int64("failed", c.Failed).Int64("dropped", c.Dropped).Int64("waiting", left).
			Msg("not all spans of this process reached the collector")
	}
}

// span is one span, whose times are known when it is sent.
type span struct {
	place      place
	id         trace.SpanID // zero: any
	parent     trace.SpanID // zero: none
	name       string
	kind       trace.SpanKind
	begun      time.Time
	ended      time.Time
	attributes []attribute.KeyValue
	failed     relabel.Code // what went wrong; "" for nothing
	links      []trace.Link
}

// send hands a span over. It does not wait.
func (t *Tracer) send(s span) {
	ctx := withWanted(context.Background(), s.place.trace(), s.id)
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, s.place.context(s.parent))
	}
	if s.failed != "" {
		s.attributes = append(s.attributes, semconv.ErrorTypeKey.String(string(s.failed)))
	}
	_, out := t.tracer.Start(ctx, s.name, trace.WithTimestamp(s.begun), trace.WithSpanKind(s.kind), trace.WithAttributes(s.attributes...), trace.WithLinks(s.links...))
	if s.failed != "" {
		out.SetStatus(errorStatus, "")
	}
	out.End(trace.WithTimestamp(s.ended))
}

// named is the name of a span: an operation and what it is of.
func named(operation attribute.KeyValue, of string) string {
	return fmt.Sprintf("%s %s", operation.Value.AsString(), of)
}
