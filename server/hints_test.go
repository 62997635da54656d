package server_test

import (
	"strings"
	"testing"

	"relabel"
	"relabel/server"
)

func TestARunTakesHintsFromADoneEvaluationToLocalise(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.ChooseScaffold = func(string, relabel.TaskKind) (string, relabel.Prompts, error) {
			return "openhands", relabel.Prompts{First: "{problem_statement} {hints?}{hints_text}{/hints?}"}, nil
		}
	})
	ids := s.seed()
	find := relabel.Run{ID: relabel.NewID(), Name: "find", TaskKind: relabel.Localise}
	s.store.runs = append(s.store.runs, find)
	create := func(name, rest string) answerOf {
		return s.post("/v1/runs", `{"name":"`+name+`","taskset":"`+ids.taskset+`","teacher":"teacher"`+rest+`}`)
	}
	refuse := func(rest, field, because string) {
		t.Helper()
		answer := create("refused", rest)
		s.refused(answer, 422, "invalid", field)
		if !strings.Contains(string(answer.body), because) {
			t.Errorf("%s does not say %q", answer.body, because)
		}
	}
	refuse(`,"hints_from":"find"`, "hints_from", "no evaluation that is done")
	for number, state := range []relabel.IterationState{relabel.IterationDone, relabel.IterationDone, relabel.IterationRunning} {
		s.store.iterations = append(s.store.iterations, relabel.Iteration{ID: relabel.NewID(), RunID: find.ID, Kind: relabel.Evaluate, Number: number + 1, State: state})
	}
	refuse(`,"hints_from":"nowhere"`, "hints_from", "")
	refuse(`,"hints_from":"`+ids.run+`"`, "hints_from", "is a run of tasks to repair")
	refuse(`,"hints_from":"find","hints_evaluation":3`, "hints_evaluation", "no evaluation 3 that is done")
	refuse(`,"hints_evaluation":1`, "hints_evaluation", "needs hints_from")
	refuse(`,"hints_top":3`, "hints_top", "needs hints_from")
	refuse(`,"hints_from":"find","prompts":{"first":"{problem_statement}"}`, "prompts.first", "no {hints_text}")

	newest := s.want(201, create("newest", `,"hints_from":"`+find.ID.String()+`"`))
	if newest.field("hints_from", "run") != "find" || newest.field("hints_from", "evaluation") != 2.0 || newest.field("hints_from", "top") != 5.0 {
		t.Errorf("%s", newest.body)
	}
	named := s.want(201, create("named", `,"hints_from":"find","hints_evaluation":1,"hints_top":3`))
	if named.field("hints_from", "evaluation") != 1.0 || named.field("hints_from", "top") != 3.0 {
		t.Errorf("%s", named.body)
	}
	if plain := s.want(201, create("plain", "")); strings.Contains(string(plain.body), "hints_from") {
		t.Errorf("%s", plain.body)
	}
	s.store.tasksets = append(s.store.tasksets, relabel.Taskset{ID: relabel.NewID(), Name: "to localise", Kind: relabel.Localise})
	s.refused(s.post("/v1/runs", `{"name":"refused","taskset":"to localise","teacher":"teacher","hints_from":"find"}`), 422, "invalid", "hints_from")
}
