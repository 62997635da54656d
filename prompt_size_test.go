package relabel

import "testing"

func TestAPromptsSizeIsWhatWasCountedLastAndAThirdOfWhatCame(t *testing.T) {
	student, teacher := NewID(), NewID()
	s := NewPromptSizes([]Message{{Role: RoleUser, Content: "x"}}, nil)
	if size := s.Of(student); size.By != SizeByBytes || size.Tokens < 1 || size.Most < 4*size.Tokens {
		t.Errorf("before any answer: %+v", size)
	}
	observation := Observation{CallID: "call_1_0", Tool: "f", Content: "abc"}
	turn := Turn{T: 1, Executor: Student, Action: Action{PolicyID: student, Message: Message{Content: "y"}, Usage: &Usage{PromptTokens: 1000, CompletionTokens: 50}}, Observations: []Observation{observation}}
	s.Add(turn)
	added := len(AppendMessages(nil, AppendTurn(nil, turn)[1:]))
	want := PromptEstimate{PromptSize{Tokens: 1050 + (added+2)/3, By: SizeByUsage}, 1050 + added}
	if got := s.Of(student); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	want.Most += 1050
	if got := s.Of(teacher); got != want {
		t.Errorf("of a policy that was not counted: %+v, not %+v", got, want)
	}
}
