package server_test

import (
	"testing"

	"relabel"
	"relabel/judge"
	"relabel/server"
	"relabel/store/storetest"
)

func TestAnyPolicyJudgesUnresolvedTrajectories(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	s := start(t, func(c *server.Config) { c.Store = db })
	d := storetest.Seed(t, db, 2)
	scoringPolicy(t, db, "judge", relabel.ServerOpenAI, nil)
	path := "/v1/runs/" + d.Run.ID.String() + "/judgings"
	s.refused(s.post(path, `{"policy":"judge"}`), 409, "conflict", "")
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[0].ID, "roller"), 6, false)
	storetest.Finish(t, db, storetest.Claim(t, db, d.Trajectories[1].ID, "roller"), 6, true)
	s.refused(s.post(path, `{"policy":"nobody"}`), 422, "invalid", "policy")
	s.refused(s.post(path, `{"policy":"judge","modes":["bad_luck"]}`), 422, "invalid", "modes[0]")
	s.refused(s.get(path+"/estimate?policy=judge&modes=loop,other"), 409, "conflict", "")
	estimate := s.want(200, s.get(path+"/estimate?policy=judge&iteration=1&sample=5"))
	if estimate.field("trajectories") != 1.0 || estimate.field("most_calls") != 3.0 || estimate.field("currency") != "EUR" {
		t.Errorf("estimate %s", estimate.body)
	}
	if a := s.want(200, s.get(path)); len(a.field("items").([]any)) != 0 {
		t.Errorf("an estimate queued %s", a.body)
	}
	started := s.want(200, s.post(path, `{"policy":"judge","hide_gold":true,"priority":3}`))
	hash := judge.Prompt(false).Hash
	if started.field("items", 0, "judgings", "queued") != 1.0 || started.field("items", 0, "prompt") != hash {
		t.Errorf("started %s", started.body)
	}
	for query, n := range map[string]int{"?sample=2&seed=4": 1, "?modes=loop,other": 0} { // the mode is not computed
		if a := s.want(200, s.get(path+query)); len(a.field("items").([]any)) != n {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	if a := s.want(200, s.get("/v1/judge-prompts/"+hash)); a.field("text") != judge.Prompt(false).Text || a.field("gold") != false {
		t.Errorf("prompt %s", a.body)
	}
	s.want(404, s.get("/v1/judge-prompts/"+judge.Prompt(true).Hash))
	list := s.want(200, s.get("/v1/judgings?policy=judge&run="+d.Run.ID.String()+"&state=queued"))
	if list.field("items", 0, "trajectory_id") != d.Trajectories[0].ID.String() || list.field("items", 0, "priority") != 3.0 {
		t.Errorf("judgings %s", list.body)
	}
	s.want(200, s.get("/v1/judgings/"+list.field("items", 0, "id").(string)))
	if a := s.want(200, s.post(path+"/cancel", `{"policy":"judge"}`)); a.field("cancelled") != 1.0 {
		t.Errorf("cancelled %s", a.body)
	}
}
