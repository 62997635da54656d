package relabel

import "testing"

func TestAPromptsSizeIsWhatWasCountedLastAndAThirdOfWhatCame(t *testing.T) {
	s := NewPromptSizes([]Message{{Role: RoleUser, Content: "x"}}, nil)
	if size := s.Of(Student); size.By != SizeByBytes || size.Tokens < 1 {
		t.Errorf("before any answer: %+v", size)
	}
	observation := Observation{CallID: "call_1_0", Tool: "f", Content: "abc"}
	turn := Turn{T: 1, Executor: Student, Action: Action{Message: Message{Content: "y"}, Usage: &Usage{PromptTokens: 1000, CompletionTokens: 50}}, Observations: []Observation{observation}}
	s.Add(turn)
	added := len(AppendMessages(nil, AppendTurn(nil, turn)[1:]))
	want := PromptSize{1050 + (added+2)/3, SizeByUsage}
	if got := s.Of(Student); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	if got := s.Of(Teacher); got != want {
		t.Errorf("of a role that was not counted: %+v", got)
	}
	if room, known := want.Room(want.Tokens + 1); room != 1 || !known {
		t.Errorf("room %d, %v", room, known)
	}
	if _, known := want.Room(0); known {
		t.Error("no limit is a limit")
	}
}
