package web_test

import (
	"html"
	"testing"

	"relabel"
)

func TestAnEvaluationIsStartedOnHeldOutNamedOrRepeatedTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("drawn", "T")
	of := s.evaluate()
	path := "/runs/" + s.run.ID.String() + "/start"
	ask := func(query string) string {
		return html.UnescapeString(s.get(200, path+"?part=operation&kind=evaluate"+query))
	}
	contains(t, ask(""), `"kind":"evaluate","held_out":true}`, "Evaluate on the held-out tasks", "Queues 0 trajectories")
	contains(t, ask("&instances=a%0D%0Ab&tasks=9"), `"kind":"evaluate","instances":["a","b"]}`, "Queues 2 trajectories")
	contains(t, ask("&again="+of.IterationID.String()), `"kind":"evaluate","again":"`+of.IterationID.String()+`"}`, "Queues 1 trajectories")
	s.get(400, path+"?kind=evaluate&again=x")
	s.get(400, path+"?kind=evaluate&again="+relabel.NewID().String())
	page := html.UnescapeString(s.get(200, "/iterations/"+of.IterationID.String()))
	contains(t, page, "1 task, 1 rollout each", "<code>"+of.InstanceID+"</code>", "/start?again="+of.IterationID.String()+"&kind=evaluate")
	contains(t, html.UnescapeString(s.get(200, path+"?part=operation")), `"student":"drawn-student@1"}`)
}
