package e2e

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/policy/scripted"
)

// faltering is a model server that is away for a while after some requests.
type faltering struct {
	models *models
	after  int
	away   time.Duration

	mu     sync.Mutex
	seen   int
	until  time.Time
	missed int
}

func (f *faltering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	if f.seen++; f.seen == f.after {
		f.until = time.Now().Add(f.away)
	}
	// It is away until two requests found it so, however slow the machine is.
	away := f.seen >= f.after && (f.missed < 2 || time.Now().Before(f.until))
	if away {
		f.missed++
	}
	f.mu.Unlock()
	if away {
		panic(http.ErrAbortHandler) // the line breaks
	}
	f.models.ServeHTTP(w, r)
}

// TestATemporaryEndpointOutageFailsNothing lets teacher and student be away for
// longer than their retries would bear: every trajectory is done and every state labelled,
// and calls, costs and models are on record.
func TestATemporaryEndpointOutageFailsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{})
	f := &faltering{models: m, after: 4, away: 6 * time.Second}
	at := listenFor(t, f) + "/v1"
	limits := relabel.DefaultPolicyLimits
	limits.Retries = 2 // gone within three seconds, if being away used them up
	teacher := relabel.Policy{Name: "teacher", BaseURL: at, Replicas: []string{m.url}, Model: scripted.TeacherModel, Limits: limits,
		Price: &relabel.Price{Input: 1, Cached: 1, Output: 2, Currency: "USD"}}
	b := newBench(t, l, teacher)
	student := b.policy(t, relabel.Policy{Name: "student", BaseURL: at, Model: scripted.StudentPrefix + "0.5", Limits: limits})
	r := b.collect(t, b.run(t, "faltering", nil), student, map[string]any{"beta": 0.5})
	if f.missed < 2 || r.Progress.LabelsReceived != r.Progress.Turns || r.Progress.LabelsMissed != 0 {
		t.Errorf("%d requests found it away; %+v", f.missed, r.Progress)
	}
	cost := int64(0)
	for _, j := range r.trajectories {
		for _, c := range j.calls {
			if c.BaseURL != at && c.BaseURL != m.url || c.Error != "" {
				t.Errorf("%+v", c)
			}
			if c.PolicyID == b.teacher.ID {
				if c.CostMicros == nil || *c.CostMicros != int64(c.Usage.PromptTokens+2*c.Usage.CompletionTokens) {
					t.Fatalf("a call of %+v costs %v", c.Usage, c.CostMicros)
				}
				cost += *c.CostMicros
			} else if c.CostMicros != nil {
				t.Errorf("a call without a price costs %d", *c.CostMicros)
			}
		}
	}
	seen, err := b.api.Models(t.Context(), "teacher")
	if err != nil || len(seen) == 0 || seen[0].Model != scripted.TeacherModel || cost == 0 {
		t.Errorf("%v, models %+v, cost %d", err, seen, cost)
	}
}
