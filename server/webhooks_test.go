package server_test

import (
	"context"
	"strings"
	"testing"

	"relabel"
)

func TestWhatAWebhookWasToldIsListedAndToldAgain(t *testing.T) {
	t.Parallel()
	s := startFollowable(t, 1)
	run := "/v1/runs/" + s.Run.ID.String()
	a := s.want(200, s.send("PATCH", run, `{"webhook":{"url":"https://trainer.example/hook","secret":"trainer"},"budget":{"tokens":1000,"cost":2.5}}`, "Content-Type", "application/json"))
	if a.field("webhook", "secret") != "trainer" || a.field("budget", "cost") != 2.5 {
		t.Errorf("%s", a.body)
	}
	if a := s.want(200, s.get(run)); a.field("spent", "tokens") != 0.0 || a.field("budget", "tokens") != 1000.0 {
		t.Errorf("%s", a.body)
	}
	if a := s.want(200, s.get(run+"/webhooks")); len(a.field("items").([]any)) != 0 {
		t.Errorf("%s", a.body)
	}
	s.finish(0)
	a = s.want(200, s.get(run+"/webhooks"))
	if a.field("items", 0, "type") != "iteration.done" || a.field("items", 0, "state") != "pending" || a.field("items", 0, "payload", "data", "iteration", "counts", "turns") != 2.0 {
		t.Fatalf("%s", a.body)
	}
	id := a.field("items", 0, "id").(string)
	if again := s.want(200, s.post(run+"/webhooks/"+id+"/redeliver", "")); again.field("id") != id {
		t.Errorf("%s", again.body)
	}
	var jobs int
	if err := s.db.Pool().QueryRow(context.Background(), "SELECT count(*) FROM river_job WHERE kind = 'webhook'").Scan(&jobs); err != nil || jobs != 1 {
		t.Errorf("%d jobs of one delivery, %v", jobs, err)
	}
	s.refused(s.post("/v1/runs/"+relabel.NewID().String()+"/webhooks/"+id+"/redeliver", ""), 404, relabel.CodeNotFound, "")
	s.want(200, s.send("PATCH", run, `{"webhook":{"url":""}}`, "Content-Type", "application/json"))
	s.refused(s.post(run+"/webhooks/"+id+"/redeliver", ""), 409, relabel.CodeConflict, "")
}

func TestBudgetsAndWebhooksThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.seed()
	for body, field := range map[string]string{
		`"budget":{"tokens":-1}`:                "budget.tokens",
		`"budget":{"cost":-0.5}`:                "budget.cost",
		`"budget":{"cost":1e-9}`:                "budget.cost",
		`"webhook":{"url":"ftp://a"}`:           "webhook.url",
		`"webhook":{"url":"https://me:pass@a"}`: "webhook.url",
		`"webhook":{"url":"https://a","secret":"whsec_MfKQ9r8GKYqrTwjUPD8I+="}`: "webhook.secret",
	} {
		for _, a := range []answerOf{
			s.post("/v1/runs", `{"name":"x","recipe":"dagger","taskset":"`+ids.taskset+`","teacher":"teacher",`+body+`}`),
			s.send("PATCH", "/v1/runs/"+ids.run, "{"+body+"}", "Content-Type", "application/json"),
		} {
			if s.refused(a, 422, relabel.CodeInvalid, field); strings.Contains(string(a.body), "MfKQ9") || strings.Contains(string(a.body), "pass@") {
				t.Errorf("a secret is shown: %s", a.body)
			}
		}
	}
}
