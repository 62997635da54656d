package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// server answers with a handler.
func server(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	c, err := client.New(s.URL+"/", "secret")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAListIsReadToItsLastPage(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/v1/relabelings" || q.Get("state") != "failed" || q.Get("limit") != "500" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		if q.Get("after") == "" {
			_, _ = fmt.Fprintf(w, `{"items":[{"instance_id":"a"},{"instance_id":"b"}],"next":"2 & 3"}`)
			return
		}
		if q.Get("after") != "2 & 3" {
			t.Errorf("after %q", q.Get("after"))
		}
		_, _ = fmt.Fprint(w, `{"items":[{"instance_id":"c"}],"next":""}`)
	})
	all, err := c.Relabelings(t.Context(), url.Values{"state": {"failed"}})
	if err != nil || len(all) != 3 || all[2].InstanceID != "c" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestNamesMayHoldAnyCharacter(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/v1/runs/a%2Fb%20%3F" {
			t.Error(r.URL.EscapedPath())
		}
		_, _ = fmt.Fprint(w, `{"name":"a/b ?","spent":{"calls":3}}`)
	})
	if run, err := c.Run(t.Context(), "a/b ?"); err != nil || run.Name != "a/b ?" || run.Spent.Calls != 3 {
		t.Errorf("%v, %v", run, err)
	}
}

func TestAProblemBecomesTheErrorThatTheServerMeant(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(api.Problem{Code: relabel.CodeInvalid, Detail: "seed: no", Errors: []api.ProblemField{{Location: "body.seed", Message: "no"}, {Message: "line 2: more\nline 3: more"}}})
	})
	_, err := c.CreateRun(t.Context(), api.NewRun{})
	if relabel.CodeOf(err) != relabel.CodeInvalid || err.Error() != "seed: no\n  line 2: more\n  line 3: more" {
		t.Errorf("%v", err)
	}
	c = server(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>bad gateway</h1>", http.StatusBadGateway)
	})
	if _, err = c.Overview(t.Context()); relabel.CodeOf(err) != relabel.CodeInternal || !strings.Contains(err.Error(), "502") {
		t.Errorf("%v", err)
	}
	c = server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	if _, err = c.Overview(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("%v", err)
	}
}

func TestAPostHasAKeyAndMayBeRepeatedWithIt(t *testing.T) {
	var keys []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		_, _ = fmt.Fprint(w, `{}`)
	})
	same := client.WithKey(t.Context(), "mine")
	for _, ctx := range []context.Context{t.Context(), t.Context(), same, same} {
		if _, err := c.StartExport(ctx, api.NewExport{Run: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	if keys[0] == "" || keys[0] == keys[1] || keys[2] != "mine" || keys[3] != "mine" {
		t.Errorf("%v", keys)
	}
}

// streams answers each request for a stream with the next of its bodies.
type streams struct {
	bodies []io.ReadCloser // nil: no answer
	asked  []string        // Last-Event-ID of each request
}

func (s *streams) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.Header.Get("Last-Event-ID"))
	body := s.bodies[0]
	s.bodies = s.bodies[1:]
	if body == nil {
		return nil, errors.New("connection refused")
	}
	context.AfterFunc(r.Context(), func() { _ = body.Close() })
	return &http.Response{StatusCode: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}}, nil
}

// slowly is a stream with a pause before each of its parts; it stays open after the last.
func slowly(pause time.Duration, parts ...string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for _, part := range parts {
			time.Sleep(pause) // of the bubble's clock
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
		}
	}()
	return r
}

// follow follows an iteration over these streams, and tells how many of its turns were shown.
func follow(t *testing.T, s *streams) (turns []int, err error) {
	t.Helper()
	c, err := client.New("http://localhost:1", "")
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP = &http.Client{Transport: s}
	_, err = c.FollowIteration(t.Context(), relabel.NewID(), func(it api.IterationView) { turns = append(turns, it.Progress.Turns) })
	return turns, err
}

func TestHeartbeatsKeepAQuietStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := []string{"event: begin\nid: 4\ndata: {}\n\n"}
		for range 100 {
			parts = append(parts, ":\n\n")
		}
		s := &streams{bodies: []io.ReadCloser{slowly(15*time.Second, append(parts, "event: end\ndata: {\"progress\":{\"turns\":7}}\n\n")...)}}
		turns, err := follow(t, s)
		if err != nil || len(turns) != 1 || turns[0] != 7 || len(s.asked) != 1 {
			t.Errorf("%v, %v, %q", turns, err, s.asked)
		}
	})
}

func TestASilentStreamIsOpenedAgainFromTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &streams{bodies: []io.ReadCloser{
			slowly(time.Second, "event: begin\nid: 4\ndata: {}\n\n", "event: trajectory\nid: 5\ndata: {}\n\nevent: progress\ndata: {\"progress\":{\"turns\":1}}\n\n"),
			nil,
			io.NopCloser(strings.NewReader("event: progress\ndata: {\"progr")),
			slowly(time.Second, "event: end\ndata: {\"progress\":{\"turns\":2}}\n\n"),
		}}
		turns, err := follow(t, s)
		if err != nil || fmt.Sprint(turns) != "[1 2]" || fmt.Sprintf("%q", s.asked) != `["" "5" "5" "5"]` {
			t.Errorf("%v, %v, %q", turns, err, s.asked)
		}
	})
}

func TestAServerThatStaysAwayIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &streams{bodies: make([]io.ReadCloser, 10_000)}
		if _, err := follow(t, s); relabel.CodeOf(err) != relabel.CodeUnavailable {
			t.Errorf("%v", err)
		}
	})
}
