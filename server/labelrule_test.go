package server_test

import (
	"testing"

	"relabel"
	"relabel/mixer/schedule"
	"relabel/server"
)

func TestARunAndItsIterationsHaveALabelRule(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Plan = schedule.Plan
		c.PrepareRun = func(r relabel.Run) (relabel.Run, error) {
			r = schedule.Defaults(r)
			return r, schedule.ValidateRun(r)
		}
	})
	ids := s.seed()
	create := func(name, rest string) answerOf {
		return s.post("/v1/runs", `{"name":"`+name+`","taskset":"`+ids.taskset+`","teacher":"teacher"`+rest+`}`)
	}
	s.refused(create("a", `,"label_rule":"sometimes"`), 422, "invalid", "label_rule")
	s.refused(create("b", `,"label_rule":"teacher_turns:3"`), 422, "invalid", "label_rule")
	if ends := s.want(201, create("e", `,"recipe":"aggrevate","label_rule":"teacher_turns:3"`)); ends.field("label_rule") != "teacher_turns:3" {
		t.Errorf("the run is %s", ends.body)
	}
	run := s.want(201, create("c", `,"label_rule":"every:4"`))
	if run.field("label_rule") != "every:4" {
		t.Errorf("the run is %s", run.body)
	}
	if plain := s.want(201, create("d", "")); plain.field("label_rule") != "all" {
		t.Errorf("a run without a rule is %s", plain.body)
	}
	path := "/v1/runs/" + run.fieldText("id") + "/iterations"
	if it := s.want(201, s.post(path, `{"student":"student"}`)); it.field("label_rule") != "every:4" {
		t.Errorf("the iteration is %s", it.body)
	}
	if it := s.want(201, s.post(path, `{"student":"student","label_rule":"after_failure+0.1"}`)); it.field("label_rule") != "after_failure+0.1" {
		t.Errorf("the iteration is %s", it.body)
	}
	s.refused(s.post(path, `{"student":"student","kind":"sample","label_rule":"every:2"}`), 422, "invalid", "label_rule")
}

// A rule by uncertainty needs log-probabilities, which requests ask for as the policy's sampling says.
func TestAStudentWithoutLogprobsCannotBeUncertain(t *testing.T) {
	s := start(t, func(c *server.Config) { c.Plan = schedule.Plan })
	ids := s.seed()
	for name, rest := range map[string]string{"silent": `"server":"openai"`, "mute": `"server":"vllm","sampling":{"logprobs":false}`, "told": `"server":"openai","sampling":{"logprobs":true}`, "known": `"server":"vllm"`} {
		s.want(201, s.post("/v1/policies", `{"name":"`+name+`","base_url":"http://127.0.0.1:9/v1","model":"m",`+rest+`}`))
	}
	path := "/v1/runs/" + ids.run + "/iterations"
	for _, name := range []string{"silent", "mute"} {
		s.refused(s.post(path, `{"student":"`+name+`","label_rule":"uncertain:0.5"}`), 422, "invalid", "label_rule")
		s.want(201, s.post(path, `{"student":"`+name+`","label_rule":"every:2"}`))
	}
	for _, name := range []string{"told", "known"} {
		s.want(201, s.post(path, `{"student":"`+name+`","label_rule":"uncertain:0.5"}`))
	}
}
