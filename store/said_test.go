package store_test

import (
	"context"
	"reflect"
	"testing"

	"relabel"
	"relabel/chat"
	"relabel/store/storetest"
)

// TestALabelReadFromTextIsKeptAsItWasSaid settles a label whose call stood in the text:
// it agrees with a student's native call, and what the server wrote stays beside it.
func TestALabelReadFromTextIsKeptAsItWasSaid(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	call := relabel.Message{Role: relabel.RoleAssistant, ToolCalls: []relabel.ToolCall{{ID: "call_1_0", Name: "execute_bash", Arguments: `{"command": "ls"}`}}}
	turn := storetest.Turn(c, 1, nil)
	turn.Action.Raw, turn.Action.Message = chat.AppendMessage(nil, call), call
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	label := storetest.Received(c.Teacher.ID, "")
	label.Raw, label.Message, label.Parse = chat.EncodeMessage(call), call, relabel.ParsedOK
	label.Said = []byte("{\"content\":\"<function=execute_bash>\xff\"}")
	label.ReadAs, label.NotGiven = []relabel.CallForm{relabel.FunctionTags}, []string{"logprobs"}
	must(t, s.SettleLabel(ctx, c.Fence, 1, label))
	turns, err := s.FindState(ctx, c.TrajectoryID, c.Attempt, 1)
	must(t, err)
	if !reflect.DeepEqual(*turns[0].Label, label) {
		t.Errorf("stored %+v, not %+v", *turns[0].Label, label)
	}
	if agreed := value[int](t, s, "SELECT agreed FROM trajectories"); agreed != 1 {
		t.Errorf("%d labels agree", agreed)
	}
}

func TestAPolicyWithoutAToolFormatIsNative(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	p := storetest.Policy(t, s, "plain")
	if p.ToolFormat != relabel.ToolsNative {
		t.Errorf("%q", p.ToolFormat)
	}
	again := storetest.Policy(t, s, "plain")
	if again.ID != p.ID {
		t.Error("the same definition made another version")
	}
	p.ID, p.ToolFormat = relabel.ID{}, relabel.ToolsText
	text, err := s.CreatePolicy(context.Background(), p)
	must(t, err)
	found, err := s.FindPolicyByName(context.Background(), "plain")
	must(t, err)
	if text.Version != 2 || !reflect.DeepEqual(found, text) {
		t.Errorf("%+v, %+v", text, found)
	}
}
