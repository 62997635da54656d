package server_test

import (
	"strings"
	"testing"
)

// seed has the tasks a__b-1, a__b-2 and, held out, a__b-3.
func TestABenchmarkSelectsItsTasksInOneWay(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	create := func(more string) answerOf {
		return s.post("/v1/benchmarks", `{"taskset":"real",`+more+`}`)
	}
	for name, of := range map[string]struct{ selection, kind, instances string }{
		"file":    {`"instances":["a__b-3","a__b-1"]`, "instances", "a__b-1 a__b-3"},
		"held":    {`"held_out":true`, "held_out", "a__b-3"},
		"all":     {`"all":true,"excluded":[{"instance_id":"a__b-2","reason":"no image"}]`, "all", "a__b-1 a__b-3"},
		"drawn-2": {`"tasks":2,"seed":5`, "drawn", "a__b-1 a__b-2"},
		"rest":    {`"tasks":2,"seed":5,"excluded":[{"instance_id":"a__b-2","reason":"no image"}]`, "drawn", "a__b-1 a__b-3"},
	} {
		b := s.want(201, create(`"name":"`+name+`",`+of.selection))
		var instances []string
		for _, id := range b.field("instances").([]any) {
			instances = append(instances, id.(string))
		}
		if b.field("source", "kind") != of.kind || strings.Join(instances, " ") != of.instances || b.field("limits", "max_turns") != 100.0 || b.field("limits", "max_context_tokens") != 65536.0 {
			t.Errorf("%s: %s", name, b.body)
		}
	}
	if b := s.want(200, s.get("/v1/benchmarks/all")); b.field("excluded", 0, "reason") != "no image" || b.field("tasks") != 2.0 {
		t.Errorf("%s", b.body)
	}
	long := s.want(201, create(`"name":"long","all":true,"limits":{"max_turns":200,"max_context_tokens":131072}`))
	if long.field("limits", "max_turns") != 200.0 || long.field("limits", "max_context_tokens") != 131072.0 || long.field("limits", "verify_seconds") != 1800.0 {
		t.Errorf("%s", long.body)
	}
	for _, c := range []struct{ body, field string }{
		{`"name":"x"`, "instances"}, {`"name":"x","all":true,"held_out":true`, "instances"}, {`"name":"x","instances":["a__b-1","nope"]`, "instances[1]"},
		{`"name":"x","all":true,"seed":3`, "seed"}, {`"name":"x","tasks":4`, "tasks"}, {`"name":"x","tasks":3,"excluded":[{"instance_id":"a__b-1","reason":"r"}]`, "tasks"},
		{`"name":"x","instances":["a__b-1"],"excluded":[{"instance_id":"a__b-2","reason":"r"}]`, "excluded[0].instance_id"}, {`"name":"x","held_out":true,"excluded":[{"instance_id":"a__b-3","reason":"r"}]`, "instances"},
		{`"name":"x","held_out":true,"excluded":[{"instance_id":"a__b-1","reason":"r"}]`, "excluded[0].instance_id"}, {`"name":"` + ids.run + `","all":true`, "name"},
		{`"name":" x","all":true`, "name"}, {`"name":"x\n# y","all":true`, "name"}, {`"name":"  ","all":true`, "name"}, {`"name":"\ufeffx","all":true`, "name"}, {`"name":"x\u202ey","all":true`, "name"},
		{`"name":"x","all":true,"excluded":[{"instance_id":"a__b-1","reason":"r"},{"instance_id":"a__b-1","reason":"s"}]`, "excluded[1].instance_id"},
	} {
		s.refused(create(c.body), 422, "invalid", c.field)
	}
	s.refused(create(`"name":"all","all":true`), 409, "conflict", "name")
	if b := s.want(200, s.get("/v1/benchmarks/long")); b.field("reserves", "trainable_tasks") != 2.0 || b.field("reserves", "trajectories") != 0.0 {
		t.Errorf("%s", b.body)
	}
	s.want(200, s.send("DELETE", "/v1/benchmarks/long", ""))
	s.want(404, s.get("/v1/benchmarks/long"))
	s.want(404, s.get("/v1/benchmarks/none/evaluations"))
}

// A task of a named benchmark is neither drawn nor named for training, unless that is allowed; an
// evaluation of any run rolls it out.
func TestATaskOfABenchmarkIsKeptOutOfTraining(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	s.want(201, s.post("/v1/benchmarks", `{"name":"kept","taskset":"real","instances":["a__b-2","a__b-3"]}`))
	iterations := "/v1/runs/" + ids.run + "/iterations"
	drawn := s.want(201, s.post(iterations, `{"student":"student"}`))
	if drawn.field("reserved_tasks") != 1.0 || drawn.field("reserved_by", 0) != "kept" || drawn.field("progress", "trajectories", "queued") != 1.0 {
		t.Errorf("%s", drawn.body)
	}
	s.refused(s.post(iterations, `{"student":"student","instances":["a__b-2"]}`), 422, "invalid", "instances")
	s.refused(s.post(iterations, `{"student":"student","kind":"sample","instances":["a__b-2"]}`), 422, "invalid", "instances")
	s.refused(s.post(iterations, `{"student":"student","allow_benchmarks":["keep"]}`), 422, "invalid", "allow_benchmarks[0]")
	s.refused(s.post(iterations, `{"student":"student","benchmark":"kept"}`), 422, "invalid", "benchmark")
	s.refused(s.post("/v1/runs", `{"name":"named","recipe":"dagger","taskset":"real","teacher":"teacher","instances":["a__b-2"]}`), 422, "invalid", "instances[0]")
	s.refused(s.post("/v1/exports", `{"run":"r","allow_benchmarks":["keep"],"unfinished":true}`), 422, "invalid", "allow_benchmarks[0]")
	allowed := s.want(201, s.post(iterations, `{"student":"student","allow_benchmarks":["kept"]}`))
	if allowed.field("allow_benchmarks", 0) != "kept" || allowed.field("progress", "trajectories", "queued") != 2.0 {
		t.Errorf("%s", allowed.body)
	}
	s.want(201, s.post("/v1/benchmarks", `{"name":"later","taskset":"real","instances":["a__b-2"]}`))
	for it, want := range map[string]any{drawn.fieldText("id"): nil, allowed.fieldText("id"): 1.0} {
		if since := s.want(200, s.get("/v1/iterations/"+it)).field("reserved_since"); since != want {
			t.Errorf("%v tasks are reserved since, not %v", since, want)
		}
	}
	if list := s.want(200, s.get(iterations)); list.field("items", 2, "id") != allowed.fieldText("id") || strings.Contains(string(list.body), "reserved_since") {
		t.Errorf("a list counts reserved tasks: %s", list.body)
	}
	for _, body := range []string{`{"student":"student","kind":"evaluate","benchmark":"kept"}`, `{"student":"student","kind":"evaluate","benchmark":"kept","generations":2}`} {
		it := s.want(201, s.post(iterations, body))
		s.refused(s.send("DELETE", "/v1/benchmarks/kept", ""), 409, "conflict", "")
		draw := s.want(200, s.get("/v1/iterations/"+it.fieldText("id")+"/draw"))
		if list := draw.field("instances").([]any); len(list) != 2 || list[0] != "a__b-2" || list[1] != "a__b-3" {
			t.Errorf("an evaluation rolls out %v", list)
		}
	}
}
