package server_test

import (
	"fmt"
	"testing"
	"time"

	"relabel"
	"relabel/server"
)

func TestWrongTokensAreSlowedDownAndRightOnesAreNot(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	attempts := server.NewAttempts()
	attempts.Now = func() time.Time { return now }
	s := start(t, func(c *server.Config) { c.RequireToken, c.Attempts = true, attempts })
	for _, name := range []string{"rl_good", "rl_new"} {
		s.store.tokens[relabel.HashSecret(name)] = relabel.FullAccess
	}
	ask := func(token string) answerOf { return s.get("/v1/runs", "Authorization", "Bearer "+token) }
	s.want(200, ask("rl_good"))
	for i := range 5 {
		s.refused(ask(fmt.Sprint("rl_", i)), 401, "unauthorized", "")
	}
	slowed := ask("rl_bad")
	s.refused(slowed, 429, "busy", "")
	if slowed.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", slowed.Header.Get("Retry-After"))
	}
	s.want(200, ask("rl_good"))    // it was right before
	s.want(200, s.get("/healthz")) // open to all
	for range 20 {                 // each failure doubles the pause
		now = now.Add(time.Minute)
		s.refused(ask("rl_bad"), 401, "unauthorized", "")
	}
	now = now.Add(59 * time.Second)
	s.refused(ask("rl_new"), 429, "busy", "")
	now = now.Add(2 * time.Second)
	s.want(200, ask("rl_new")) // nobody waits longer than a minute
}

func TestFailuresOfAllAddressesAreBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	attempts := server.NewAttempts()
	attempts.Now = func() time.Time { return now }
	waited := 0
	for i := range 30_000 { // each from an address of its own
		address := fmt.Sprintf("[2001:db8:%x:%x::1]:80", i/256, i%256)
		if attempts.Wait(address, fmt.Sprint(i)) > 0 {
			waited++
			continue
		}
		attempts.Failed(address, fmt.Sprint(i))
	}
	if waited < 29_000 {
		t.Errorf("%d of 30,000 addresses waited", waited)
	}
	attempts.Succeeded("10.0.0.1:80", "right")
	if attempts.Wait("10.0.0.1:80", "right") > 0 {
		t.Error("a right token waits")
	}
	now = now.Add(time.Second)
	if attempts.Wait("10.0.0.2:80", "other") > 0 {
		t.Error("nobody may try again after a second")
	}
}
