package server_test

import (
	"fmt"
	"net/url"
	"testing"
)

func TestNamesAreTakenWhereverIdsAre(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	ids := s.seed()
	odd := "a/b c%?#é"
	made := s.want(201, s.post("/v1/runs", fmt.Sprintf(`{"name":%q,"recipe":"sft","taskset":"real","teacher":"teacher"}`, odd)))
	if made.fieldText("taskset_id") != ids.taskset {
		t.Errorf("a run over the taskset by name: %s", made.body)
	}
	for _, name := range []string{"r", odd} {
		run := s.want(200, s.get("/v1/runs/"+url.PathEscape(name)))
		if run.fieldText("name") != name {
			t.Errorf("%s by name: %s", name, run.body)
		}
		for _, rest := range []string{"/iterations", "/time", "/webhooks"} {
			s.want(200, s.get("/v1/runs/"+url.PathEscape(name)+rest))
		}
		s.want(200, s.post("/v1/runs/"+url.PathEscape(name)+"/pause", "{}"))
		s.want(200, s.send("PATCH", "/v1/runs/"+url.PathEscape(name), `{"priority":3}`, "Content-Type", "application/json"))
	}
	s.want(200, s.get("/v1/tasksets/real/tasks"))
	for path, items := range map[string]int{
		"/v1/trajectories?run=r": 2, "/v1/trajectories?run=" + url.QueryEscape(odd): 0, "/v1/trajectories?taskset=real": 2, "/v1/trajectories?run=r&iteration=1": 2,
		"/v1/exports?run=r": 0, "/v1/reviews?run=r": 0, "/v1/relabelings?run=r&policy=teacher@1": 0, "/v1/trajectories/search?run=r&text=Make": 2,
	} {
		if a := s.want(200, s.get(path)); len(a.field("items").([]any)) != items {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	for _, path := range []string{"/v1/runs/none", "/v1/runs/none/iterations", "/v1/runs/none/events", "/v1/tasksets/none"} {
		s.refused(s.get(path), 404, "not_found", "")
	}
	for path, field := range map[string]string{"/v1/trajectories?run=none": "run", "/v1/trajectories?taskset=none": "taskset", "/v1/relabelings?policy=none": "policy", "/v1/relabelings?policy=a@x": "policy"} {
		s.refused(s.get(path), 422, "invalid", field)
	}
	s.refused(s.post("/v1/runs", fmt.Sprintf(`{"name":%q,"recipe":"sft","taskset":"real","teacher":"teacher"}`, ids.run)), 422, "invalid", "name")
	s.refused(s.post("/v1/tasksets?name="+ids.run, fmt.Sprintf(taskLine, "x")), 422, "invalid", "name")
}
