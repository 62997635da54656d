package web_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/web/webtest"
)

// askedPolicy makes the second version of a policy with two addresses, of which one is
// down, with calls, errors and models that answered.
func (s *site) askedPolicy(done relabel.Trajectory) {
	s.t.Helper()
	ctx := s.t.Context()
	var p relabel.Policy
	for version := range 2 {
		var err error
		p, err = s.store.CreatePolicy(ctx, relabel.Policy{Name: "priced", BaseURL: "http://a/v1", Replicas: []string{"http://b/v1"}, Model: hostile, Server: relabel.ServerVLLM, Secret: "KEY",
			Sampling: relabel.PaperSampling, Limits: relabel.PolicyLimits{Concurrency: version + 1}, Price: &relabel.Price{Input: 1, Cached: 0.5, Output: 4, Currency: "EUR"}, Tokenizer: hostile, ChatTemplate: hostile})
		s.must(err)
	}
	call := relabel.Call{PolicyID: p.ID, TrajectoryID: &done.ID, Attempt: 1, T: 2, Purpose: relabel.PurposeLabel, Tries: 1, Status: 200, Millis: 800, BaseURL: "http://a/v1",
		Usage: &relabel.Usage{PromptTokens: 1000, CompletionTokens: 100, CachedTokens: 500}, CostMicros: new(int64(1_500_000))}
	for range 4 {
		s.must(s.store.RecordCall(ctx, call))
	}
	call.Usage, call.CostMicros, call.Tries, call.Status, call.Error, call.ErrorBody, call.BaseURL = nil, nil, 4, 503, hostile, []byte(hostile), "http://b/v1"
	s.must(s.store.RecordCall(ctx, call))
	for _, model := range []string{"m-1", hostile} {
		_, err := s.store.RecordModel(ctx, relabel.ModelSeen{PolicyID: p.ID, BaseURL: "http://a/v1", Model: model, Fingerprint: hostile})
		s.must(err)
	}
	s.must(s.store.SeeWorker(ctx, relabel.Worker{Name: "w", Machine: "m", Rollouts: 1}))
	s.must(s.store.ShowActivity(ctx, "w", relabel.WorkerActivity{Endpoints: []relabel.EndpointActivity{
		{URL: "http://a/v1", InFlight: 2, Limit: 8, WaitingLabels: 3}, {URL: "http://b/v1", Limit: 1, Down: hostile}}}))
}

func TestAPolicyShowsItsHealthSpendAndErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	done, _ := s.rollout()
	s.askedPolicy(done)
	p := webtest.Open(t, s.URL+"/policies")
	p.Look("policies")
	row := p.Text("tbody tr")
	for _, want := range []string{"priced@2", "partly down", "2 of 9, 3 wait", "1 of 5 (20%)", "800 ms"} {
		if !strings.Contains(row, want) {
			t.Errorf("the list says %q, without %q", row, want)
		}
	}
	p.Click("tbody a")
	p.Wait("document.querySelector('h1')?.innerText.startsWith('priced@2')")
	p.Look("policy")
	text := p.Text("main")
	for _, want := range []string{"HTTP 503", "4 attempts", "down for 1 of 1 workers", "demo\t5\t4000\t2000\t400\t6.00", "1 input, 0.5 cached, 4 output, EUR", "changed", "@1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page says nothing of %q:\n%q", want, text)
		}
	}
	if n := p.Count("main script, main img, [onmouseover], [onerror]"); n != 0 {
		t.Errorf("%d elements came from a text", n)
	}
	for _, path := range []string{"/policies/priced", "/policies/priced@1"} {
		if !strings.Contains(s.get(200, path), "priced@") {
			t.Errorf("%s is not shown", path)
		}
	}
	s.get(404, "/policies/none")
	s.get(404, "/policies/"+relabel.NewID().String())
	s.get(400, "/policies/priced@x")
	s.get(400, "/policies?after=!")
}
