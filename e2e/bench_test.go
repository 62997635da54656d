package e2e

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"relabel"
)

// BenchmarkStudentTurnWaitsForStudentAlone rolls out 20 turns of a student that takes
// 0.2 s beside a teacher that takes 2 s a label. Where a turn waits for the student
// alone, that is 20 × 0.2 s and the last label's 2 s: x-ideal is how much longer it took,
// with sandbox and verification. x-both is the share of what waiting for both would take.
func BenchmarkStudentTurnWaitsForStudentAlone(b *testing.B) {
	const (
		turns   = 20
		student = 200 * time.Millisecond
		teacher = 2 * time.Second
	)
	l := newLab(b)
	wide := relabel.PolicyLimits{Concurrency: turns, TimeoutSeconds: 60, Retries: 0} // the endpoint is not what is measured
	s := newBench(b, l, relabel.Policy{Name: "teacher", BaseURL: echoing(b, teacher), Model: "t", Limits: wide})
	run := s.run(b, "waiting", map[string]any{"limits": map[string]any{"max_turns": turns}})
	pupil := s.policy(b, relabel.Policy{Name: "student", BaseURL: echoing(b, student), Model: "s", Limits: wide})
	var took time.Duration
	for b.Loop() {
		r := s.collect(b, run, pupil, map[string]any{"beta": 0, "instances": []string{"calc__add"}})
		j := r.trajectories[0]
		if j.Turns != turns || r.Progress.LabelsReceived != turns {
			b.Fatalf("%d turns, %d labels", j.Turns, r.Progress.LabelsReceived)
		}
		took += j.EndedAt.Sub(*j.StartedAt)
	}
	each := took.Seconds() / float64(b.N)
	b.ReportMetric(each, "s/trajectory")
	b.ReportMetric(each/(turns*student+teacher).Seconds(), "x-ideal")
	b.ReportMetric(each/(turns*(student+teacher)).Seconds(), "x-both")
}

// echoing serves a model that runs echo, again and again, and takes its time.
func echoing(b *testing.B, delay time.Duration) string {
	b.Helper()
	return listenFor(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // unread, it would hide that the caller has gone
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
		_, _ = fmt.Fprint(w, `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"On.",`+
			`"tool_calls":[{"id":"a","type":"function","function":{"name":"execute_bash","arguments":"{\"command\": \"echo on\"}"}}]}}]}`)
	})) + "/v1"
}
