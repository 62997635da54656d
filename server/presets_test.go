package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
	"relabel/server"
)

// scheduled draws as a process does.
func scheduled(c *server.Config) {
	c.Plan = schedule.Plan
	c.PrepareRun = func(r relabel.Run) (relabel.Run, error) {
		r = schedule.Defaults(r)
		return r, schedule.ValidateRun(r)
	}
}

func TestAPresetFillsARunAndItsIterations(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed() // two tasks for training
	run := s.want(201, s.post("/v1/runs", `{"name":"paper","preset":"dagger-paper","tasks_per_round":1,"taskset":"`+ids.taskset+`","teacher":"teacher"}`))
	if run.field("recipe") != "dagger" || run.field("preset") != "dagger-paper" || run.field("draw") != "permutation" || run.field("rounds") != 5.0 || run.field("trainer", "batch_size") != 16.0 {
		t.Errorf("run %s", run.body)
	}
	id := run.field("id").(string)
	var view struct {
		Rows []relabel.PresetRow `json:"preset_rows"`
	}
	if err := json.Unmarshal(s.want(200, s.get("/v1/runs/"+id)).body, &view); err != nil || len(view.Rows) != 22 || !view.Rows[3].Differs || view.Rows[0].Value != "2 tasks" {
		t.Errorf("%v: %+v", err, view.Rows)
	}
	seen := map[any]bool{}
	for i, restarted := range []bool{false, false, true} {
		it := s.want(201, s.post("/v1/runs/"+id+"/iterations", `{"student":"student"}`))
		if it.field("progress", "trajectories", "queued") != 1.0 || it.field("walk", "restarted") != restarted {
			t.Errorf("iteration %d: %s", i+1, it.body)
		}
		drawn := s.want(200, s.get("/v1/iterations/"+it.field("id").(string)+"/draw")).field("instances").([]any)[0]
		if seen[drawn] != restarted {
			t.Errorf("iteration %d rolls out %v", i+1, drawn)
		}
		seen[drawn] = true
	}
	both := s.want(201, s.post("/v1/runs/"+id+"/iterations", `{"student":"student","tasks":2,"generations":3}`))
	if both.field("progress", "trajectories", "queued") != 6.0 {
		t.Errorf("%s", both.body)
	}
}

// Three passes are over the tasks that the run may draw.
func TestThePassesOfAPresetLeaveOutTasksOfBenchmarks(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed() // two tasks for training
	s.want(201, s.post("/v1/benchmarks", `{"name":"kept","taskset":"real","instances":["a__b-2","a__b-3"]}`))
	for more, want := range map[string][2]any{
		``: {3.0, "1 tasks"}, `"allow_benchmarks":["kept"],`: {6.0, "2 tasks"}, `"instances":["a__b-1"],`: {3.0, "1 tasks"},
	} {
		name := strings.ReplaceAll(strings.Trim(want[1].(string)+more, ","), `"`, "")
		run := s.want(201, s.post("/v1/runs", `{"name":"`+name+`","preset":"grpo-paper","tasks_per_round":1,`+more+`"taskset":"`+ids.taskset+`"}`))
		view := s.want(200, s.get("/v1/runs/"+run.field("id").(string)))
		if run.field("rounds") != want[0] || view.field("preset_rows", 0, "value") != want[1] {
			t.Errorf("with %s %v rounds, want %v: %s", more, run.field("rounds"), want, view.body)
		}
	}
}

func TestAPresetRefusesAnotherRecipeAndAnotherSampling(t *testing.T) {
	s := start(t, scheduled)
	ids := s.seed()
	s.want(201, s.post("/v1/policies", `{"name":"hot","base_url":"http://h/v1","model":"m","sampling":{"temperature":1}}`))
	body := `{"name":"paper","preset":"aggrevate-paper","tasks_per_round":1,"taskset":"` + ids.taskset + `","teacher":"teacher"}`
	s.refused(s.post("/v1/runs", strings.Replace(body, `"teacher":"teacher"`, `"teacher":"hot"`, 1)), 422, relabel.CodeInvalid, "teacher")
	s.refused(s.post("/v1/runs", strings.Replace(body, `"name"`, `"recipe":"dagger","name"`, 1)), 422, relabel.CodeInvalid, "recipe")
	s.refused(s.post("/v1/runs", strings.Replace(body, "aggrevate-paper", `sft-paper","verify":"none`, 1)), 422, relabel.CodeInvalid, "verify")
	s.refused(s.post("/v1/runs", strings.Replace(body, "aggrevate-paper", "ppo-paper", 1)), 422, relabel.CodeInvalid, "preset")
	path := "/v1/runs/" + s.want(201, s.post("/v1/runs", body)).field("id").(string) + "/iterations"
	s.refused(s.post(path, `{"student":"hot"}`), 422, relabel.CodeInvalid, "student")
	s.want(201, s.post(path, `{"student":"hot","kind":"evaluate","held_out":true}`)) // greedy, whatever the policy
	s.want(201, s.post(path, `{"student":"student","rho":{"kind":"ranges","ranges":[[1,2]]}}`))
}
