package server_test

import (
	"reflect"
	"testing"

	"relabel"
	"relabel/atif"
	"relabel/chat"
)

// A document has all turns with actions, labels and who acted, for any text of the models.
func TestATrajectoryIsShownAsATIF(t *testing.T) {
	s := start(t)
	tr := s.rollout()
	turns := s.store.turns[tr.ID]
	turns[1].Action.PromptTokenIDs, turns[1].Action.TokenIDs = []int32{5, 6}, []int32{7}
	turns[1].Action.Usage = &relabel.Usage{PromptTokens: 2, CompletionTokens: 1}
	s.store.patches[tr.ID] = []byte("diff --git a/é b/é\n+\xff\n")
	a := s.want(200, s.get("/v1/trajectories/"+tr.ID.String()+"/atif?prompt_token_ids=true"))
	r, err := atif.Read(a.body)
	if err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	run, _ := s.store.FindRun(t.Context(), tr.RunID)
	task, _ := s.store.FindTask(t.Context(), tr.TaskID)
	if want := run.Prompts.Opening(task); !reflect.DeepEqual(r.Opening, want) || !reflect.DeepEqual(r.Tools, run.Prompts.Tools) {
		t.Errorf("it opens with %+v and %+v, not %+v and %+v", r.Opening, r.Tools, want, run.Prompts.Tools)
	}
	if len(r.Turns) != len(turns) || r.Own.Student.Name != "student" || r.Own.Teacher.Name != "teacher" || string(r.Own.Patch) != string(s.store.patches[tr.ID]) {
		t.Fatalf("it has %d turns and %+v", len(r.Turns), r.Own)
	}
	for i, turn := range turns {
		got := r.Turns[i]
		if got.Executor != turn.Executor || !same(got.Action, turn.Action) || !same(*got.Label, *turn.Label) || !reflect.DeepEqual(got.Observations, turn.Observations) {
			t.Errorf("turn %d is\n%+v, not\n%+v", i+1, got, turn)
		}
	}
}

// A trajectory that has more turns than one page of the store is written whole.
func TestADocumentHasThePagesOfALongTrajectory(t *testing.T) {
	s := start(t)
	tr := s.rollout()
	turns := s.store.turns[tr.ID]
	for i := len(turns) + 1; i <= 120; i++ {
		turn := turns[0]
		turn.T, turn.Observations = i, []relabel.Observation{{CallID: relabel.CallID(i, 0), Tool: "execute_bash", Content: "out"}}
		turns = append(turns, turn)
	}
	s.store.turns[tr.ID] = turns
	for i := range s.store.trajectories {
		if s.store.trajectories[i].ID == tr.ID {
			s.store.trajectories[i].Turns = len(turns)
		}
	}
	r, err := atif.Read(s.want(200, s.get("/v1/trajectories/"+tr.ID.String()+"/atif")).body)
	if err != nil || len(r.Turns) != 120 || r.Turns[119].T != 120 {
		t.Errorf("%v, %d turns", err, len(r.Turns))
	}
}

// same compares the messages of actions, with canonical call ids.
func same(a, b relabel.Action) bool {
	return a.PolicyID == b.PolicyID && string(chat.EncodeMessage(a.Message.Canonical(1))) == string(chat.EncodeMessage(b.Message.Canonical(1)))
}

func TestADocumentOfAnUnknownTrajectoryIsNotFound(t *testing.T) {
	s := start(t)
	s.want(404, s.get("/v1/trajectories/"+relabel.NewID().String()+"/atif"))
}
