package server_test

import "testing"

func TestARunIsDeletedOverREST(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t)
	ids := s.seed()
	contents := s.want(200, s.get("/v1/runs/r/contents"))
	if contents.field("trajectories") != 2.0 || contents.fieldText("refused") == "" {
		t.Errorf("it has %s", contents.body)
	}
	s.refused(s.send("DELETE", "/v1/runs/r", ""), 409, "conflict", "")
	s.want(200, s.post("/v1/runs/r/cancel", ""))
	gone := s.want(200, s.send("DELETE", "/v1/runs/r", ""))
	if gone.field("trajectories") != 2.0 || gone.fieldText("refused") != "" {
		t.Errorf("deleted %s", gone.body)
	}
	s.refused(s.send("DELETE", "/v1/runs/"+ids.run, ""), 404, "not_found", "")
	s.want(404, s.get("/v1/iterations/"+ids.iteration))
	s.want(200, s.get("/v1/tasksets/real"))
}

func TestALargeRunIsDeletedInTheBackground(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := s.seed()
	s.store.slowDeletion = true
	answer := s.want(202, s.send("DELETE", "/v1/runs/"+ids.run, ""))
	if answer.field("deleting") != true {
		t.Errorf("it answers %s", answer.body)
	}
}
