package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
	"relabel/policy"
	"relabel/policy/weightstest"
	"relabel/server"
	"relabel/store/storetest"
)

// connected checks and loads weights over HTTP.
type connected struct{}

func (connected) Fingerprints(ctx context.Context, p relabel.Policy) ([]relabel.Fingerprint, error) {
	return policy.TakeFingerprints(ctx, p, policy.Options{})
}

func (connected) Load(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights) (string, []string, error) {
	loaded, err := policy.Load(ctx, p, w, policy.Options{})
	return loaded.Model, loaded.New, err
}

func (connected) RollBack(ctx context.Context, p relabel.Policy, w relabel.LoadedWeights, bases []string) error {
	return policy.RollBack(ctx, p, w, bases, policy.Options{})
}

func (connected) LoadedAdapters(ctx context.Context, p relabel.Policy) (map[string][]string, error) {
	return policy.LoadedAdapters(ctx, p, policy.Options{})
}

func (connected) UnloadAdapter(ctx context.Context, p relabel.Policy, base, name string) error {
	return policy.UnloadAdapter(ctx, p, base, name, policy.Options{})
}

// weighed is the interface over a real database that takes fingerprints.
func weighed(t *testing.T) *service {
	db := storetest.New(t)
	return start(t, func(c *server.Config) {
		c.Store = db
		c.Plan = schedule.Plan
		c.Weights = connected{}
	})
}

// student registers a version of the student at servers.
func (s *service) student(model string, servers ...*weightstest.Server) string {
	s.t.Helper()
	replicas := []string{}
	for _, r := range servers[1:] {
		replicas = append(replicas, fmt.Sprintf("%q", r.Base()))
	}
	body := fmt.Sprintf(`{"name":"student","base_url":%q,"replicas":[%s],"model":%q,"server":"vllm"}`, servers[0].Base(), strings.Join(replicas, ","), model)
	return s.want(201, s.post("/v1/policies", body)).fieldText("id")
}

func TestARoundStartsOnlyWithTheWeightsThatItsStudentStandsFor(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	ids := s.seed()
	a, b := weightstest.New(t, "0"), weightstest.New(t, "0")
	s.student("base", a, b)
	rounds := "/v1/runs/" + ids.run + "/iterations"
	first := s.want(201, s.post(rounds, `{"student":"student","beta":0.5}`))
	if first.field("weights", "result") != "checked" || first.field("weights", "distance") != 0.0 || first.field("weights", "occasion") != "start" {
		t.Errorf("round 1 %s", first.body)
	}
	// The new checkpoint is registered, and no server has loaded it.
	s.want(201, s.post("/v1/policies", fmt.Sprintf(`{"name":"student","base_url":%q,"replicas":[%q],"model":"base","server":"vllm","limits":{"concurrency":9}}`, a.Base(), b.Base())))
	refused := func(doubt string, says ...string) {
		t.Helper()
		answer := s.post(rounds, `{"student":"student","beta":0.5}`)
		s.refused(answer, 409, "conflict", "allow_weights")
		for _, text := range append(says, "(--allow-weights): "+doubt) {
			if !strings.Contains(answer.fieldText("detail"), text) {
				t.Errorf("%s does not say %q", answer.body, text)
			}
		}
	}
	refused("same", "they equal those of student@2 in collect 2")
	a.SetWeights("1") // one of two
	refused("different", b.Base())
	b.SetWeights("1")
	second := s.want(201, s.post(rounds, `{"student":"student","beta":0.5}`))
	if second.field("weights", "result") != "checked" {
		t.Errorf("round 2 %s", second.body)
	}
	a.SetWeights("2")
	b.SetWeights("2")
	refused("changed", "student@3 had other weights before in collect 3")
	s.want(201, s.post(rounds, `{"student":"student","beta":0.5,"allow_weights":["changed"]}`))
	b.Close()
	refused("unchecked", b.Base())
	// A round without a turn of the student does not need its server.
	idle := s.want(201, s.post(rounds, `{"student":"student","beta":1}`))
	if idle.field("weights", "doubts", 0, "doubt") != "unchecked" || idle.field("weights", "doubts", 0, "allowed") != true {
		t.Errorf("a round of the teacher %s", idle.body)
	}
	list := s.want(200, s.get("/v1/policies/student/weights"))
	if len(list.field("checks").([]any)) != 3 || strings.Contains(string(list.body), "logprobs") {
		t.Errorf("checks %s", list.body)
	}
}

func TestAPausedIterationResumesOnlyWithItsOwnWeights(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	ids := s.seed()
	a := weightstest.New(t, "0")
	s.student("base", a)
	id := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0.5}`)).fieldText("id")
	resume := "/v1/iterations/" + id + "/resume"
	s.want(200, s.post("/v1/iterations/"+id+"/pause", ""))
	a.SetWeights("1")
	s.refused(s.post(resume, ""), 409, "conflict", "allow_weights")
	s.refused(s.post("/v1/runs/"+ids.run+"/resume", `{"allow_weights":["sam"]}`), 422, "invalid", "allow_weights[0]")
	if it := s.want(200, s.get("/v1/iterations/"+id)); it.field("paused") == nil {
		t.Errorf("it was resumed: %s", it.body)
	}
	a.SetWeights("0")
	s.want(200, s.post(resume, ""))
	a.SetWeights("1")
	s.want(200, s.post("/v1/runs/"+ids.run+"/pause", ""))
	s.refused(s.post("/v1/runs/"+ids.run+"/resume", ""), 409, "conflict", "allow_weights")
	s.want(200, s.post("/v1/runs/"+ids.run+"/resume", `{"allow_weights":["changed"]}`))
	list := s.want(200, s.get("/v1/iterations/"+id+"/weights"))
	if list.field("checks", 0, "occasion") != "resume" || list.field("checks", 0, "doubts", 0, "allowed") != true || list.field("checks", 1, "result") != "checked" || list.field("checks", 2, "occasion") != "start" {
		t.Errorf("checks %s", list.body)
	}
}

func TestAStudentWhoseServerGivesNoLogprobsIsNotChecked(t *testing.T) {
	t.Parallel()
	s := weighed(t)
	ids := s.seed()
	it := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","beta":0.5}`))
	if it.field("weights", "result") != "not_checked" || it.field("weights", "fingerprints", 0, "able") != false || !strings.Contains(string(it.body), "kind generic") {
		t.Errorf("%s", it.body)
	}
}
