package server_test

import (
	"strings"
	"testing"

	"relabel"
)

func TestConversationsAreImportedListedAndMixed(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.store.iterations[0].State = relabel.IterationDone
	importFile := func(name, file string) answerOf {
		return s.post("/v1/conversations?name="+name, file, "Content-Type", "application/x-ndjson")
	}
	file := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"
	a := s.want(201, importFile("general", file))
	if a.field("conversations") != 1.0 || a.field("labels") != 1.0 || len(a.field("digest").(string)) != 64 {
		t.Errorf("%s", a.body)
	}
	s.refused(importFile("general", file), 409, "conflict", "name")
	s.refused(importFile("other", file+`{"messages":[{"role":"user","content":"a"}]}`), 422, "invalid", "line 2: messages")
	s.refused(importFile("other", ""), 400, "malformed", "")
	if n := len(s.want(200, s.get("/v1/conversations")).field("items").([]any)); n != 1 {
		t.Errorf("%d sets", n)
	}
	ask := func(source string) answerOf {
		return s.post("/v1/exports", `{"run":"`+ids.run+`","mix":{"sources":[`+source+`]}}`)
	}
	for field, source := range map[string]string{
		"mix.sources[0].conversations": `{"conversations":"nothing"}`,
		"mix.sources[0].run":           `{"conversations":"general","run":"` + ids.run + `"}`,
		"mix.sources[0].weights":       `{"conversations":"general","weights":{"age_decay":0.5}}`,
	} {
		s.refused(ask(source), 422, "invalid", field)
	}
	s.refused(ask(`{"conversations":"general","aggregated":true}`), 422, "invalid", "mix.sources[0].conversations")
	s.refused(ask(`{}`), 422, "invalid", "mix.sources[0].run")
	s.want(201, ask(`{"conversations":"general"}`))
	if kept := s.store.exports[0].Mix.Sources[0].Selection; kept.Conversations == nil || kept.Conversations.Name != "general" || !strings.Contains(kept.Describe(), "general") {
		t.Errorf("%+v", kept)
	}
	s.want(200, s.send("DELETE", "/v1/conversations/general", ""))
	s.refused(s.get("/v1/conversations/general"), 404, "not_found", "")
}
