package server_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
	"relabel/server"
)

func TestAnOnPolicyRunSamplesByDefault(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Plan = schedule.Plan
		c.PrepareRun = func(r relabel.Run) (relabel.Run, error) {
			r = schedule.Defaults(r)
			return r, schedule.ValidateRun(r)
		}
	})
	ids := s.seed()
	create := func(name, rest string) answerOf {
		return s.post("/v1/runs", `{"name":"`+name+`","taskset":"`+ids.taskset+`"`+rest+`}`)
	}
	s.refused(create("o", `,"recipe":"opd"`), 422, "invalid", "teacher")
	s.refused(create("d", ""), 422, "invalid", "teacher")
	s.refused(create("l", `,"recipe":"grpo","labels":"batch"`), 422, "invalid", "labels")
	opd := s.want(201, create("o", `,"recipe":"opd","teacher":"teacher"`))
	grpo := s.want(201, create("g", `,"recipe":"grpo"`))
	if strings.Contains(string(grpo.body), "teacher_id") || opd.fieldText("teacher_id") == "" {
		t.Errorf("teachers: %s and %s", opd.body, grpo.body)
	}
	divergence := "/v1/runs/" + grpo.fieldText("id") + "/divergence"
	s.refused(s.get(divergence), 422, "invalid", "policy")
	s.want(200, s.get(divergence+"?policy=teacher"))
	path := "/v1/runs/" + grpo.fieldText("id") + "/iterations"
	s.refused(s.post(path, `{"student":"student","kind":"collect"}`), 422, "invalid", "kind")
	it := s.want(201, s.post(path, `{"student":"teacher","generations":2}`))
	if it.field("kind") != "sample" || it.field("number") != 1.0 || it.field("generations") != 2.0 {
		t.Errorf("it starts %s", it.body)
	}
	if it := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student"}`)); it.field("kind") != "collect" {
		t.Errorf("another run starts %s", it.body)
	}
}
