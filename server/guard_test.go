package server_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/server"
)

func TestWithoutTokensOnlyLoopbackNamesAreAnswered(t *testing.T) {
	s := start(t)
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:80", "relabel.localhost"} {
		s.want(200, s.get("/v1/runs", "Host", host))
	}
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "0.0.0.0"} {
		s.refused(s.get("/v1/runs", "Host", host), 403, "forbidden", "header.Host")
	}
}

func TestForeignPagesChangeNothing(t *testing.T) {
	s := start(t)
	body := `{"name":"p","base_url":"http://h/v1","model":"m"}`
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://localhost:1"},
	} {
		s.refused(s.post("/v1/policies", body, headers...), 403, "forbidden", "header.Origin")
	}
	s.want(201, s.post("/v1/policies", body, "Origin", s.URL))
	s.want(201, s.post("/v1/policies", body))
}

func TestATokenIsDemandedWhereItIsRequired(t *testing.T) {
	s := start(t, func(c *server.Config) { c.RequireToken = true })
	s.store.tokens[relabel.HashSecret("rl_good")] = relabel.FullAccess

	for _, headers := range [][]string{{}, {"Authorization", "Bearer rl_bad"}, {"Authorization", "Bearer "}, {"Authorization", "rl_good"}, {"Authorization", "Bearer " + relabel.HashSecret("rl_good")}} {
		a := s.get("/v1/runs", headers...)
		s.refused(a, 401, "unauthorized", "")
		if a.Header.Get("WWW-Authenticate") == "" {
			t.Error("no WWW-Authenticate")
		}
	}
	s.want(200, s.get("/v1/runs", "Authorization", "Bearer rl_good", "Host", "relabel.internal"))
	s.refused(s.get("/openapi.json"), 401, "unauthorized", "")
	s.want(200, s.get("/healthz"))
	s.want(200, s.get("/readyz"))
	s.refused(s.get("/v1/runs?access_token=rl_good"), 401, "unauthorized", "query.access_token")
	if strings.Contains(s.log.String(), "rl_good") {
		t.Error("a token is in the log")
	}
}

func TestABrowserIsAskedToSignInAndItsSessionReads(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.RequireToken = true
		c.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller, _ := relabel.CallerOf(r.Context())
			_, _ = w.Write([]byte("a page for " + caller.Session))
		})
	})
	s.store.sessions[relabel.HashSecret("a")], s.store.sessions[relabel.HashSecret("b")] = relabel.FullAccess, relabel.ReadAccess
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for method, path := range map[string]string{http.MethodGet: "/runs/1?a=b&c", http.MethodHead: "/"} {
		r, _ := http.NewRequest(method, s.URL+path, nil)
		r.Header.Set("Accept", "text/html")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if want := "/sign-in?to=" + url.QueryEscape(path); answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != want {
			t.Errorf("%s %s: %d to %s, want %s", method, path, answer.StatusCode, answer.Header.Get("Location"), want)
		}
	}
	full, read := "relabel_session=a", "relabel_session=b"
	for _, path := range []string{"/sign-in", "/static/x/y.css"} {
		if page := s.want(200, s.get(path)); string(page.body) != "a page for " {
			t.Errorf("page %q", page.body)
		}
	}
	if page := s.want(200, s.get("/", "Cookie", full)); string(page.body) != "a page for a" {
		t.Errorf("page %q", page.body)
	}
	s.want(200, s.get("/v1/runs", "Cookie", read))
	s.want(200, s.post("/runs/1/pause", "", "Cookie", full))
	s.want(200, s.post("/sign-out", "", "Cookie", read))
	s.refused(s.post("/runs/1/pause", "", "Cookie", read), 403, "forbidden", "")
	s.refused(s.post("/v1/policies", "{}", "Cookie", full), 401, "unauthorized", "") // a page would have to want it
	s.refused(s.get("/v1/runs", "Cookie", "relabel_session=c"), 401, "unauthorized", "")
}

func TestATokenThatReadsChangesNothing(t *testing.T) {
	s := start(t, func(c *server.Config) { c.RequireToken = true })
	s.store.tokens[relabel.HashSecret("rl_read")] = relabel.ReadAccess
	s.want(200, s.get("/v1/runs", "Authorization", "Bearer rl_read"))
	s.refused(s.post("/v1/policies", `{"name":"p","base_url":"http://h/v1","model":"m"}`, "Authorization", "Bearer rl_read"), 403, "forbidden", "")
}

func TestEveryAnswerCarriesSecurityHeaders(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/v1/runs", "/v1/nothing", "/docs", "/openapi.json", "/healthz"} {
		h := s.get(path).Header
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestLiveIsNotReady(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Ready = func(context.Context) []api.Check {
			return []api.Check{{Name: "docker", Detail: "no engine at unix:///var/run/docker.sock; start one"}}
		}
	})
	if a := s.want(200, s.get("/healthz")); a.field("status") != "live" {
		t.Errorf("%s", a.body)
	}
	a := s.get("/readyz")
	s.refused(a, 503, "unavailable", "")
	if a.field("errors", 0, "location") != "docker" || !strings.Contains(a.field("detail").(string), "start one") {
		t.Errorf("%s", a.body)
	}
	s.store.broken = errNone
	if a := s.want(503, s.get("/readyz")); a.field("errors", 0, "location") != "database" {
		t.Errorf("%s", a.body)
	}
	s.want(200, s.get("/healthz"))
}

func TestOnlyCallersWithATokenAreToldWhatExactlyIsMissing(t *testing.T) {
	const detail = "dial unix /run/secret-place/docker.sock: permission denied"
	s := start(t, func(c *server.Config) {
		c.RequireToken = true
		c.Ready = func(context.Context) []api.Check { return []api.Check{{Name: "docker", Detail: detail}} }
	})
	s.store.tokens[relabel.HashSecret("rl_good")] = relabel.FullAccess
	for _, headers := range [][]string{nil, {"Authorization", "Bearer rl_bad"}} {
		a := s.get("/readyz", headers...)
		s.refused(a, 503, "unavailable", "")
		if a.field("errors", 0, "location") != "docker" || a.field("detail") != "not ready: docker" || strings.Contains(string(a.body), "secret-place") {
			t.Errorf("without a token: %s", a.body)
		}
	}
	a := s.get("/readyz", "Authorization", "Bearer rl_good")
	s.refused(a, 503, "unavailable", "")
	if !strings.Contains(a.field("detail").(string), detail) {
		t.Errorf("with a token: %s", a.body)
	}
	s.Close() // every request has its line now
	if strings.Count(s.log.String(), detail) != 3 {
		t.Errorf("the log does not say each time what is missing: %s", s.log)
	}
}
