package server_test

import (
	"testing"

	"relabel"
)

const localiseLine = `{"kind":"localise","instance_id":"c__d-1","repository":"c/d","base_commit":"0123456789012345678901234567890123456789","problem_statement":"It falls.","gold_files":["a.py"],"gold_functions":["a.py::f"]}`

// searching stores a task set to localise, named searches.
func (s *service) searching() {
	s.want(201, s.post("/v1/tasksets?name=searches", localiseLine, "Content-Type", "application/x-ndjson"))
}

func TestBenchmarksHaveTheLimitsAndTheRunsOfTheirKind(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	s.searching()
	b := s.want(201, s.post("/v1/benchmarks", `{"name":"searched","taskset":"searches","all":true}`))
	if b.field("limits", "score_depth") != 5.0 || b.field("limits", "observation_bytes") != 30000.0 {
		t.Errorf("%s", b.body)
	}
	for set, limits := range map[string][]string{"searches": {"score_depth\":0", "observation_bytes\":999"}, "real": {"score_depth\":3", "observation_bytes\":3000"}} {
		for i, field := range []string{"limits.score_depth", "limits.observation_bytes"} {
			s.refused(s.post("/v1/benchmarks", `{"name":"x","taskset":"`+set+`","all":true,"limits":{"`+limits[i]+`}}`), 422, relabel.CodeInvalid, field)
		}
	}
	s.want(201, s.post("/v1/benchmarks", `{"name":"kept","taskset":"real","all":true}`))
	run := s.want(201, s.post("/v1/runs", `{"name":"search","recipe":"grpo","taskset":"searches"}`)).field("id").(string)
	s.refused(s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","kind":"evaluate","benchmark":"searched"}`), 422, relabel.CodeInvalid, "benchmark")
	s.refused(s.post("/v1/runs/"+run+"/iterations", `{"student":"student","kind":"sample","benchmark":"kept"}`), 422, relabel.CodeInvalid, "benchmark")
	it := s.want(201, s.post("/v1/runs/"+run+"/iterations", `{"student":"student","kind":"evaluate","benchmark":"searched"}`))
	if it.field("progress", "scored") != 0.0 || it.field("progress", "trajectories", "queued") != 1.0 {
		t.Errorf("%s", it.body)
	}
}

func TestAPresetOfToolTrainFillsARunThatLocalises(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	s.searching()
	run := s.want(201, s.post("/v1/runs", `{"name":"rl","preset":"tooltrain-paper","taskset":"searches"}`))
	for field, want := range map[string]float64{"max_prompt_tokens": 12288, "max_response_tokens": 20480, "max_context_tokens": 32768, "score_depth": 5} {
		if run.field("limits", field) != want {
			t.Errorf("%s is %v, want %v", field, run.field("limits", field), want)
		}
	}
	if run.field("recipe") != "grpo" || run.field("generations") != 8.0 || run.field("rounds") != 1.0 {
		t.Errorf("%s", run.body)
	}
	own := s.want(201, s.post("/v1/runs", `{"name":"own","preset":"tooltrain-paper","taskset":"searches","limits":{"max_prompt_tokens":0,"score_depth":10}}`))
	if own.field("limits", "score_depth") != 10.0 || own.field("limits", "max_response_tokens") != 20480.0 {
		t.Errorf("%s", own.body)
	}
	path := "/v1/runs/" + run.field("id").(string) + "/iterations"
	s.refused(s.post(path, `{"student":"student","tasks":1}`), 422, relabel.CodeInvalid, "student")
	s.want(201, s.post("/v1/policies", `{"name":"hot","base_url":"http://h/v1","model":"m","sampling":{"temperature":1,"top_p":1}}`))
	s.want(201, s.post(path, `{"student":"hot","tasks":1}`))
	s.want(201, s.post("/v1/runs", `{"name":"sft","preset":"tooltrain-sft-paper","taskset":"searches","teacher":"teacher"}`))
	s.refused(s.post("/v1/runs", `{"name":"x","preset":"tooltrain-paper","taskset":"`+ids.taskset+`"}`), 422, relabel.CodeInvalid, "preset")
	s.refused(s.post("/v1/runs", `{"name":"x","preset":"grpo-paper","taskset":"searches"}`), 422, relabel.CodeInvalid, "preset")
}

func TestAnExportOfARunThatLocalisesRefusesFiltersOfTests(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	s.searching()
	run := s.want(201, s.post("/v1/runs", `{"name":"search","recipe":"sft","taskset":"searches","teacher":"teacher"}`)).field("id").(string)
	for _, c := range []struct{ run, filter, field string }{
		{run, `"resolved":true`, "resolved"}, {run, `"verdict_protections":"newest"`, "verdict_protections"}, {run, `"hit":true,"submitted":false`, "submitted"}, {run, `"min_score":1.5`, "min_score"},
		{ids.run, `"hit":true`, "hit"}, {ids.run, `"min_score":0.5`, "min_score"},
	} {
		s.refused(s.post("/v1/exports", `{"run":"`+c.run+`",`+c.filter+`}`), 422, relabel.CodeInvalid, c.field)
	}
}
