// Package tracing sends rollouts as OpenTelemetry spans to a collector, by OTLP over HTTP, with the attributes of
// the semantic conventions for generative AI. A collector that is slow or down never delays a rollout: spans
// are then dropped and counted.
//
// One trace is an attempt at a trajectory: an invoke_agent span, below it a span per turn with its model calls
// and tool calls, the start of the sandbox, and the verification. The ids of traces, attempts and turns are
// derived from the trajectory, so that labels that another process requests later join the trace.
package tracing

import (
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"
)

// Mode says what is sent.
type Mode string

// The modes.
const (
	Off     Mode = "off"
	Spans   Mode = "spans"   // without texts of prompts, models and tools
	Content Mode = "content" // with them
)

// Config is what a Tracer needs beside the variables of OpenTelemetry, which docs/interchange.md lists.
type Config struct {
	Mode    Mode
	Version string // of relabel
	Worker  string // name of this process
	Log     zerolog.Logger
}

// Tracer sends spans. A nil Tracer sends nothing.
type Tracer struct {
	content bool
	limits  limits
	gate    *gate
	log     zerolog.Logger
}

// closeLimit bounds how long Close waits for the collector.
const closeLimit = 5 * time.Second

// New returns a tracer, nil if the mode is Off, and CodeInvalid if a variable cannot be used. It does not connect: a
// collector may start later.
func New(c Config) (*Tracer, error) {
	if c.Mode == Off || c.Mode == "" {
		return nil, nil
	}
	s, err := readSettings()
	if err != nil {
		return nil, err
	}
	of, err := describe(c)
	if err != nil {
		return nil, err
	}
	to := newCollector(s, newEnvelope(of, c.Version), c.Version)
	return &Tracer{content: c.Mode == Content, limits: s.limits, gate: newGate(to.post, s.interval, c.Log), log: c.Log}, nil
}

// describe returns the attributes of this process; the environment may add to them and change them.
func describe(c Config) ([]attribute, error) {
	all := map[string]string{serviceName: "relabel", serviceVersion: c.Version, serviceInstance: c.Worker,
		sdkName: "relabel", sdkLanguage: "go", sdkVersion: c.Version}
	name, list := first([]string{"OTEL_RESOURCE_ATTRIBUTES"})
	more, err := readPairs(name, list)
	maps.Copy(all, more)
	if _, service := first([]string{"OTEL_SERVICE_NAME"}); service != "" {
		all[serviceName] = service
	}
	var attributes []attribute
	for _, key := range slices.Sorted(maps.Keys(all)) {
		attributes = append(attributes, attribute{key, all[key]})
	}
	return attributes, err
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
	return t.gate.count()
}

// Close sends the spans that wait, for some seconds at most, and logs what could not be sent.
func (t *Tracer) Close() {
	if t == nil {
		return
	}
	t.gate.close()
	if c := t.Counts(); c.Failed > 0 || c.Dropped > 0 {
		t.log.Warn().Int64("sent", c.Sent).Int64("failed", c.Failed).Int64("dropped", c.Dropped).
			Msg("not all spans of this process reached the collector")
	}
}

// send hands a span over. It does not wait.
func (t *Tracer) send(s span) { t.gate.add(s.encode(t.limits)) }
