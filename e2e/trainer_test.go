package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/policy/scripted"
)

// trainer is a receiver of webhooks that does its round: an export when an iteration is
// done.
type trainer struct {
	t     *testing.T
	mu    sync.Mutex
	api   *session
	types []string
	rows  int // of the export that the webhook announced
}

func (r *trainer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body struct {
		Type string
		Data struct {
			Run       struct{ ID relabel.ID }
			Iteration struct{ Number int }
			Export    struct{ Rows int }
		}
	}
	text, err := io.ReadAll(req.Body)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil || req.Header.Get("webhook-signature") == "" {
		r.t.Errorf("%v, signature %q: %s", err, req.Header.Get("webhook-signature"), text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.types = append(r.types, body.Type)
	switch body.Type {
	case "iteration.done":
		var e relabel.Export
		if err := r.api.post(req.Context(), "/v1/exports", map[string]any{"run": body.Data.Run.ID, "iteration": body.Data.Iteration.Number}, &e); err != nil {
			r.t.Error(err)
		}
	case "export.done":
		r.rows = body.Data.Export.Rows
	}
}

func (r *trainer) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.types, " ")
}

// A run spends its budget, is paused, and resumes when it gets more; its trainer is notified of
// all of it and asks for the data set, without a look at the server.
func TestARunThatSpendsItsBudgetIsPausedAndItsTrainerNotified(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.env = append(l.env, "RELABEL_SECRET_TRAINER=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	r := &trainer{t: t}
	url := listenFor(t, r)
	r.mu.Lock()
	m := newModels(t, l, scripted.Config{})
	teacher := m.teacher()
	teacher.Price = &relabel.Price{Input: 1, Output: 4, Currency: "USD"}
	b := newBench(t, l, teacher)
	r.api = b.api
	r.mu.Unlock()
	run := b.run(t, "thrifty", map[string]any{"budget": relabel.Budget{Tokens: 2000}, "webhook": relabel.Webhook{URL: url, Secret: "trainer"}})
	student := b.policy(t, m.student("0.5"))
	watch := b.place.start(t, "run", "iterate", "thrifty", "--student", student.Name, "--beta", "1")
	eventually(t, "the trainer hears of the pause", func() bool { return r.told() == "run.paused" })
	eventually(t, "who watches hears of it", func() bool { return strings.Contains(watch.said.String(), "tokens are spent of the budget of 2000") })
	if said, code := b.command(t, "run", "resume", "thrifty"); code != 1 || !strings.Contains(said, "raise it first") {
		t.Errorf("resumed with %d: %s", code, said)
	}
	b.must(t, "run", "set", "thrifty", "--budget-tokens", "0", "--budget-cost", "1000")
	b.must(t, "run", "resume", "thrifty")
	if code := watch.wait(); code != 0 || !strings.Contains(watch.said.String(), "Resumed.") {
		t.Errorf("the watch ended with %d: %s", code, watch.said.String())
	}
	eventually(t, "the trainer has its data set", func() bool { return r.told() == "run.paused iteration.done export.done" })
	if r.rows == 0 {
		t.Error("it is empty")
	}
	var shown struct{ Spent relabel.Spent }
	noError(t, b.api.get(t.Context(), "/v1/runs/"+run.ID.String(), &shown))
	its, err := b.api.Iterations(t.Context(), run.ID)
	noError(t, err)
	if shown.Spent.Calls < int64(its[0].Progress.Turns) || shown.Spent.Cost <= 0 {
		t.Errorf("%+v for %d turns", shown.Spent, its[0].Progress.Turns)
	}
	if said := b.must(t, "run", "show", "thrifty"); !strings.Contains(said, fmt.Sprintf("spent: %d tokens", shown.Spent.Tokens)) || !strings.Contains(said, "budget: cost 1000.00") {
		t.Errorf("%s", said)
	}
}
