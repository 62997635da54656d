package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"relabel"
)

func TestTheAuditLogIsAPageWithFilters(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("demo", "s")
	if page := s.get(200, "/audit"); !strings.Contains(page, "No matching entry") {
		t.Error("something was changed over REST")
	}
	post := func(path, body string) {
		res, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		s.must(err)
		s.must(res.Body.Close())
	}
	run := s.run.ID.String()
	post("/v1/runs/"+run+"/pause", `{"text":"<b>"}`)
	post("/v1/policies", `{}`)
	all := s.get(200, "/audit")
	for _, part := range []string{"pause-run", run, "create-policy", "422", "local", "127.0.0.1"} {
		if !strings.Contains(all, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if one := s.get(200, "/audit?token_name=&since=2020-01-01&resource="+run); !strings.Contains(one, "pause-run") || strings.Contains(one, "create-policy") {
		t.Error("the filter does not narrow")
	}
	if odd := s.get(200, "/audit?resource="+url.QueryEscape(`"><script>`)); strings.Contains(odd, `"><script>`) {
		t.Error("the filter is shown raw")
	}
	s.get(400, "/audit?since=yesterday")
	s.get(404, "/audit/"+relabel.NewID().String())
}
