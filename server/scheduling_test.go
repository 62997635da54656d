package server_test

import (
	"testing"

	"relabel"
)

func TestRunsAndIterationsPauseAndGoOn(t *testing.T) {
	s := start(t)
	ids := s.seed()
	for _, path := range []string{"/v1/runs/" + ids.run, "/v1/iterations/" + ids.iteration} {
		if p := s.want(200, s.post(path+"/pause", `{"text":"the teacher is being updated"}`)); p.field("paused", "reason") != "user" || p.field("paused", "text") != "the teacher is being updated" {
			t.Errorf("paused: %s", p.body)
		}
		if p := s.want(200, s.get(path)); p.field("paused", "since") == nil {
			t.Errorf("shown: %s", p.body)
		}
		if p := s.want(200, s.post(path+"/resume", "")); p.field("paused") != nil {
			t.Errorf("resumed: %s", p.body)
		}
		s.want(200, s.post(path+"/pause", "")) // a reason is nobody's duty
		s.refused(s.post(path+"/pause", `{"because":"x"}`), 422, "invalid", "because")
	}
	s.want(200, s.post("/v1/runs/"+ids.run+"/cancel", ""))
	s.refused(s.post("/v1/runs/"+relabel.NewID().String()+"/pause", ""), 404, "not_found", "")
}

func TestPriorityAndQuotaChangeByThemselves(t *testing.T) {
	s := start(t)
	path := "/v1/runs/" + s.seed().run
	patch := func(body string) answerOf { return s.send("PATCH", path, body, "Content-Type", "application/json") }
	if r := s.want(200, patch(`{"priority":-5}`)); r.field("priority") != -5.0 || r.field("quota") != 0.0 {
		t.Errorf("priority: %s", r.body)
	}
	if r := s.want(200, patch(`{"quota":3}`)); r.field("priority") != -5.0 || r.field("quota") != 3.0 {
		t.Errorf("quota: %s", r.body)
	}
	s.refused(patch(`{"priority":1001}`), 422, "invalid", "priority")
	s.refused(patch(`{"quota":-1}`), 422, "invalid", "quota")
	s.refused(patch(`{"name":"another"}`), 422, "invalid", "name")
}

func TestFailedTrajectoriesAreRetriedByReason(t *testing.T) {
	s := start(t)
	ids := s.seed()
	for i, failure := range []relabel.FailureReason{relabel.FailEndpoint, relabel.FailEnvironment} {
		s.store.trajectories[i].State, s.store.trajectories[i].Failure = relabel.Failed, failure
	}
	path := "/v1/iterations/" + ids.iteration + "/retry"
	s.refused(s.post(path, `{"reasons":["boredom"]}`), 422, "invalid", "reasons[0]")
	if r := s.want(200, s.post(path, `{"reasons":["endpoint"]}`)); r.field("retried") != 1.0 || r.field("iteration", "progress", "trajectories", "failed") != 1.0 {
		t.Errorf("by reason: %s", r.body)
	}
	if r := s.want(200, s.post(path, "")); r.field("retried") != 1.0 {
		t.Errorf("without one: %s", r.body)
	}
}

func TestWorkersAreListed(t *testing.T) {
	s := start(t)
	s.store.workers = []relabel.Worker{{Name: "a", Machine: "m1", DockerHosts: []string{"unix:///var/run/docker.sock"}, Rollouts: 4, State: relabel.WorkerWorking, Held: 3}, {Name: "b", State: relabel.WorkerSilent}}
	first := s.want(200, s.get("/v1/workers?limit=1"))
	w := first.field("items").([]any)[0].(map[string]any)
	if w["machine"] != "m1" || w["held"] != 3.0 || w["state"] != "working" || first.field("next") != "a" {
		t.Errorf("workers: %s", first.body)
	}
	if rest := s.want(200, s.get("/v1/workers?after=a")); len(rest.field("items").([]any)) != 1 {
		t.Errorf("the rest: %s", rest.body)
	}
}
