package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"relabel"
)

// TestAMixIsRefusedByItsField: the field of a mix that is wrong is named with its place.
func TestAMixIsRefusedByItsField(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	s.store.conversations = []relabel.ConversationSet{{ID: relabel.NewID(), Name: "general"}}
	ask := func(mix string) answerOf {
		return s.post("/v1/exports", `{"run":"`+ids.run+`","mix":`+strings.ReplaceAll(mix, "RUN", ids.run)+`}`)
	}
	for _, c := range []struct{ field, mix string }{
		{"mix.sources[1].run", `{"sources":[{"run":"RUN"},{"run":"nobody"}]}`},
		{"mix.sources[0].iteration", `{"sources":[{"run":"RUN","iteration":99}]}`},
		{"mix.sources[0].hit", `{"sources":[{"run":"RUN","hit":true}]}`},
		{"mix.sources[0].weights.weight", `{"sampled":true,"sources":[{"run":"RUN","weights":{"weight":2}}]}`},
		{"mix.weights.betas[0]", `{"weights":{"betas":[{"min":0.5,"max":0.4,"weight":1}]}}`},
		{"body.mix.weights.weight", `{"weights":{"weight":0}}`},
		{"body.mix.sources[0].weights.age_decay", `{"sources":[{"run":"RUN","weights":{"age_decay":1.5}}]}`},
		{"mix", `{"weights":{"weight":0.5}}`}, // the view messages has no weights
		{"mix.sources[1].conversations", `{"sources":[{"conversations":"general"},{"conversations":"general"}]}`},
		{"mix", `{}`},
		{"mix", `{"sources":[],"sampled":true}`},
		{"mix.weights.iterations[1].iteration", `{"weights":{"iterations":[{"iteration":1,"weight":0.5},{"iteration":2,"weight":0.5}]}}`},
		{"mix.sources[0].weights.iterations[0].iteration", `{"sources":[{"run":"RUN","weights":{"iterations":[{"iteration":7,"weight":2}]}}]}`},
	} {
		a := ask(c.mix)
		if a.StatusCode != 422 || a.field("code") != "invalid" || !strings.Contains(string(a.body), `"`+strings.TrimPrefix(c.field, "body.")+`"`) && !strings.Contains(string(a.body), c.field) {
			t.Errorf("%s: %d %s, want %s", c.mix, a.StatusCode, a.body, c.field)
		}
	}
	s.refused(s.post("/v1/exports", `{"run":"`+ids.run+`","views":["messages"],"max_labels":5,"mix":{"unique":true}}`), 422, "invalid", "max_labels")
	a := s.want(201, ask(`{"unique":true,"labels_per_task":3,"sources":[{"run":"RUN","submitted":false}]}`))
	want := &relabel.Mix{Unique: true, LabelsPerTask: 3}
	kept := s.store.exports[len(s.store.exports)-1]
	if len(kept.Mix.Sources) != 1 || kept.Mix.Sources[0].Selection.Submitted || kept.Mix.Sources[0].Selection.Iteration != 1 || kept.Selection.Iteration != 1 || !kept.Selection.Submitted {
		t.Errorf("%+v", kept.Mix)
	}
	kept.Mix.Sources = nil
	if got, _ := json.Marshal(kept.Mix); string(got) != string(marshalled(want)) {
		t.Errorf("kept %s, answered %s", got, a.body)
	}
}

func marshalled(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}
