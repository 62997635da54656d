package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"relabel"
)

const policyBody = `{"name":"p","base_url":"http://h/v1","model":"m"}`

func TestARepeatedPostIsDoneOnce(t *testing.T) {
	s := start(t)
	first := s.want(201, s.post("/v1/policies", policyBody, "Idempotency-Key", "k1"))
	again := s.want(201, s.post("/v1/policies", policyBody, "Idempotency-Key", "k1"))
	if string(first.body) != string(again.body) || again.Header.Get("Idempotency-Replayed") != "true" || first.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	if again.Header.Get("Content-Type") != "application/json" {
		t.Errorf("replayed as %s", again.Header.Get("Content-Type"))
	}
	if len(s.store.policies) != 1 {
		t.Errorf("%d policies", len(s.store.policies))
	}
	s.refused(s.post("/v1/policies", strings.Replace(policyBody, `"m"`, `"n"`, 1), "Idempotency-Key", "k1"), 409, "idempotency_reuse", "")
	s.refused(s.post("/v1/exports", policyBody, "Idempotency-Key", "k1"), 409, "idempotency_reuse", "")
	s.refused(s.post("/v1/policies", policyBody, "Idempotency-Key", strings.Repeat("k", 256)), 422, "invalid", "header.Idempotency-Key")
	s.refused(s.post("/v1/policies", policyBody, "Idempotency-Key", "schlüssel"), 422, "invalid", "header.Idempotency-Key")
}

func TestARefusalIsReplayedAsTheSameProblem(t *testing.T) {
	s := start(t)
	for range 2 {
		s.refused(s.post("/v1/policies", `{"name":"p"}`, "Idempotency-Key", "k"), 422, "invalid", "base_url")
	}
}

func TestAServerErrorFreesTheKey(t *testing.T) {
	s := start(t)
	s.store.broken = errors.New("down")
	s.refused(s.post("/v1/policies", policyBody, "Idempotency-Key", "k"), 500, "internal", "")
	s.store.broken = nil
	a := s.want(201, s.post("/v1/policies", policyBody, "Idempotency-Key", "k"))
	if a.Header.Get("Idempotency-Replayed") != "" {
		t.Error("a server error was kept")
	}
}

func TestTheSameKeyConflictsConcurrently(t *testing.T) {
	s := start(t)
	begun := make(chan struct{})
	finish := make(chan struct{})
	s.store.slow = func() { close(begun); <-finish }
	done := make(chan answerOf)
	go func() { done <- s.post("/v1/policies", policyBody, "Idempotency-Key", "k") }()
	<-begun
	s.store.slow = nil
	s.refused(s.post("/v1/policies", policyBody, "Idempotency-Key", "k"), 409, relabel.CodeConflict, "")
	close(finish)
	s.want(201, <-done)
}

func TestAPanicIsAProblemAndFreesTheKey(t *testing.T) {
	s := start(t)
	s.store.slow = func() { panic("canary-panic") }
	s.refused(s.post("/v1/policies", policyBody, "Idempotency-Key", "k"), 500, "internal", "")
	s.Close() // its line is written after the answer
	if !strings.Contains(s.log.String(), "canary-panic") {
		t.Error("the panic is not in the log")
	}
	if kept, err := s.store.BeginIdempotent(context.Background(), relabel.Idempotent{Key: "k"}); kept != nil || err != nil {
		t.Errorf("the key is still taken: %v %v", kept, err)
	}
}
