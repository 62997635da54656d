package server_test

import (
	"testing"

	"relabel"
	"relabel/server"
)

func TestAnIterationRepeatsTheDrawOfAnother(t *testing.T) {
	var asked relabel.NewIteration
	s := start(t, func(c *server.Config) {
		inner := c.Plan
		c.Plan = func(run relabel.Run, number int, ask relabel.NewIteration, tasks []relabel.Task) (relabel.PlannedIteration, error) {
			asked = ask
			return inner(run, number, ask, tasks)
		}
	})
	ids := s.seed()
	of := s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","kind":"evaluate","held_out":true,"generations":3}`)).fieldText("id")
	draw := s.want(200, s.get("/v1/iterations/"+of+"/draw"))
	if draw.field("generations") != 3.0 || draw.fieldText("iteration_id") != of || len(draw.field("instances").([]any)) == 0 {
		t.Errorf("the draw is %s", draw.body)
	}
	s.want(201, s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","kind":"evaluate","again":"`+of+`"}`))
	if asked.Again == nil || asked.Again.IterationID.String() != of || asked.Generations != 0 || asked.Again.Generations != 3 {
		t.Errorf("the planner is asked for %+v", asked)
	}
	s.refused(s.post("/v1/runs/"+ids.run+"/iterations", `{"student":"student","again":"`+relabel.NewID().String()+`"}`), 422, "invalid", "again")
	s.refused(s.get("/v1/iterations/"+relabel.NewID().String()+"/draw"), 404, relabel.CodeNotFound, "")
}
