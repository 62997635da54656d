package tracing_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"relabel"
	"relabel/worker/tracing"
)

// receiver is a collector: it decodes what the exporter sends.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*otlp.Span
	resource map[string]string
	scope    string
	headers  http.Header
	hold     chan struct{} // if set, requests wait for it
	refuse   int           // status of every answer, 0: 200
	answer   string        // body of every answer
}

func newReceiver(t *testing.T, change func(*receiver)) *receiver {
	t.Helper()
	r := &receiver{resource: map[string]string{}}
	if change != nil {
		change(r)
	}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	if r.hold != nil {
		<-r.hold
	}
	body, err := readBody(req)
	var in otlp.TracesData // the same fields as a request
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &in) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	if r.refuse != 0 {
		w.WriteHeader(r.refuse)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers = req.Header
	for _, of := range in.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			r.resource[a.Key] = a.Value.GetStringValue()
		}
		for _, scope := range of.ScopeSpans {
			r.scope = scope.Scope.Name + " " + scope.Scope.Version + " of " + scope.SchemaUrl
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = io.WriteString(w, r.answer)
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(req.Body)
	}
	r, err := gzip.NewReader(req.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// named returns the spans with a name.
func (r *receiver) named(name string) (found []*otlp.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func attributesOf(s *otlp.Span) map[string]*common.AnyValue {
	all := map[string]*common.AnyValue{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Value
	}
	return all
}

func newTracer(t *testing.T, mode tracing.Mode) *tracing.Tracer {
	t.Helper()
	tracer, err := tracing.New(tracing.Config{Mode: mode, Version: "1.2", Worker: "w-1", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// model answers as told.
type model struct {
	answer relabel.Completion
	err    error
}

func (m model) Complete(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return m.answer, m.err
}

func (m model) Score(context.Context, relabel.ScoreRequest) ([]relabel.Score, error) {
	return nil, errors.New("not asked")
}

func (m model) Down() (string, <-chan struct{}) { return "it sleeps", nil }
