package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"relabel"
	"relabel/policy/scripted"
)

// spans is a collector that keeps what it receives.
type spans struct {
	*httptest.Server
	mu  sync.Mutex
	all []*otlp.Span
}

func newSpans(t *testing.T) *spans {
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in otlp.TracesData // the same fields as a request
		if err != nil || proto.Unmarshal(body, &in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, of := range in.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				s.all = append(s.all, scope.Spans...)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// count returns how many spans have an attribute with a value.
func (s *spans) count(key, value string) (n int) {
	for _, span := range s.all {
		for _, a := range span.Attributes {
			if a.Key == key && a.Value.GetStringValue() == value {
				n++
			}
		}
	}
	return n
}

// A worker sends each attempt as a trace: all turns, actions, labels and tool calls of what it collected.
func TestAWorkerSendsItsRolloutsAsSpans(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	to := newSpans(t)
	l.env = append(l.env, "RELABEL_TRACES=spans", "OTEL_EXPORTER_OTLP_ENDPOINT="+to.URL)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	r := b.collect(t, b.run(t, "first", nil), b.policy(t, m.student("0.5")), map[string]any{"beta": 0.5})
	if t.Failed() {
		return
	}
	if code := b.server.signal(syscall.SIGTERM); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	turns, labels, calls := 0, 0, 0
	for _, j := range r.trajectories {
		turns += j.Turns
		for _, turn := range j.turns {
			if turn.Executor == relabel.Student {
				labels++
			}
			for _, o := range turn.Observations {
				if o.CallID != "" {
					calls++
				}
			}
		}
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	for of, counts := range map[[2]string]int{
		{"gen_ai.operation.name", "invoke_agent"}: len(r.trajectories), {"gen_ai.operation.name", "execute_tool"}: calls,
		{"gen_ai.operation.name", "chat"}: turns + labels, {"relabel.purpose", "label"}: labels, {"gen_ai.evaluation.name", "verdict"}: len(r.trajectories),
	} {
		if got := to.count(of[0], of[1]); got != counts || counts == 0 {
			t.Errorf("%d spans have %s=%s, want %d", got, of[0], of[1], counts)
		}
	}
	parents := map[string]bool{}
	for _, s := range to.all {
		parents[string(s.SpanId)] = true
	}
	for _, s := range to.all {
		if len(s.ParentSpanId) > 0 && !parents[string(s.ParentSpanId)] {
			t.Errorf("%s has no parent among the spans", s.Name)
		}
	}
}
