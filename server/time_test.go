package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"relabel/server"
)

func TestTheTimeOfARunIsThatOfItsIterations(t *testing.T) {
	s := start(t)
	ids := s.seed()
	s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0}`))
	run := s.want(200, s.get("/v1/runs/"+ids.run+"/time"))
	if run.field("attempts") != 2.0 || run.field("spent", "model_ms") != 60.0 || run.field("efficiency") != 0.75 || len(run.field("iterations").([]any)) != 2 {
		t.Errorf("the run: %s", run.body)
	}
	s.want(404, s.get("/v1/runs/"+ids.teacher+"/time"))
	if o := s.want(200, s.get("/v1/overview")); o.field("total", "trajectories", "done") != 2.0 {
		t.Errorf("the overview: %s", o.body)
	}
}

// Metrics tell of endpoints and of what is collected: whoever may not read the one may
// not read the other. That holds where a worker answers with nothing but them.
func TestMetricsNeedATokenWhereTheOthersDo(t *testing.T) {
	if body := start(t).get("/metrics").body; !strings.Contains(string(body), "relabel_build_info") {
		t.Errorf("on loopback: %s", body)
	}
	s := start(t, func(c *server.Config) { c.RequireToken = true })
	s.want(401, s.get("/metrics"))
	worker := httptest.NewServer(server.NewMetrics(server.Config{Store: s.store, RequireToken: true,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("it works")) })}))
	defer worker.Close()
	for path, want := range map[string]int{"/metrics": http.StatusUnauthorized, "/v1/runs": http.StatusUnauthorized} {
		answer, err := http.Get(worker.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a worker answers %s with %d", path, answer.StatusCode)
		}
	}
}
