package chat

import (
	"testing"

	"relabel"
)

func TestAPromptsSizeIsTheLastCountPlusAThirdOfTheAddedBytes(t *testing.T) {
	student, teacher := relabel.NewID(), relabel.NewID()
	s := NewPromptSizes([]relabel.Message{{Role: relabel.RoleUser, Content: "x"}}, nil)
	if size := s.Of(student); size.By != relabel.SizeByBytes || size.Tokens < 1 || size.Most < 4*size.Tokens {
		t.Errorf("before any answer: %+v", size)
	}
	observation := relabel.Observation{CallID: "call_1_0", Tool: "f", Content: "abc"}
	turn := relabel.Turn{T: 1, Executor: relabel.Student, Action: relabel.Action{PolicyID: student, Message: relabel.Message{Content: "y"}, Usage: &relabel.Usage{PromptTokens: 1000, CompletionTokens: 50}}, Observations: []relabel.Observation{observation}}
	s.Add(turn)
	added := len(AppendMessages(nil, relabel.AppendTurn(nil, turn)[1:]))
	want := PromptEstimate{relabel.PromptSize{Tokens: 1050 + (added+2)/3, By: relabel.SizeByUsage}, 1050 + added}
	if got := s.Of(student); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	want.Most += 1050
	if got := s.Of(teacher); got != want {
		t.Errorf("of a policy that was not counted: %+v, not %+v", got, want)
	}
}
