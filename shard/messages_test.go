package shard

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

// TestGrownStatesAreTheStates holds the text that an export grows turn by turn against
// the state that the words of the paper give (eq. 7).
func TestGrownStatesAreTheStates(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", odd, oddArguments, "\xff\xfe"}))
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) relabel.ToolCall {
		return relabel.ToolCall{ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments")}
	}), 0, 3)
	message := rapid.Custom(func(t *rapid.T) relabel.Message {
		return relabel.Message{Content: text.Draw(t, "content"), ReasoningContent: text.Draw(t, "reasoning"), ToolCalls: calls.Draw(t, "calls")}
	})
	rapid.Check(t, func(t *rapid.T) {
		opening := relabel.Prompts{System: text.Draw(t, "system"), First: text.Draw(t, "first")}.Opening(relabel.Task{})
		var turns []relabel.Turn
		grown := openState(opening)
		for n := range rapid.IntRange(0, 6).Draw(t, "turns") {
			want := string(chat.AppendMessages(nil, relabel.State(opening, turns)))
			if got := string(grown.json()); got != want {
				t.Fatalf("state %d is\n%s\nwant\n%s", n+1, got, want)
			}
			turn := relabel.Turn{T: n + 1, Action: had(message.Draw(t, "action"))}
			for k := range turn.Action.Message.ToolCalls {
				turn.Observations = append(turn.Observations, relabel.Observation{CallID: relabel.CallID(n+1, k), Content: text.Draw(t, "observation")})
			}
			turns, grown = append(turns, turn), grown.advance(relabel.ExportForm{}, turn)
		}
	})
}

func TestTheLabelHasNoPartInTheState(t *testing.T) {
	tr := someTrajectory(1, 0, 2)
	opening := relabel.Prompts{}.Opening(tr.Task)
	grow := func() string {
		return string(openState(opening).advance(relabel.ExportForm{}, tr.Turns[0]).advance(relabel.ExportForm{}, tr.Turns[1]).json())
	}
	before := grow()
	label := had(call("finish", `{"message":"another label of turn 2"}`))
	tr.Turns[1].Label = &label
	if after := grow(); after != before || strings.Contains(after, "another label") {
		t.Errorf("the student's turn gave %s, with another label %s", before, after)
	}
}

func TestATrajectoryThatIsAnotherWhenItIsReadAgainEndsTheExport(t *testing.T) {
	b := &selector{run: newFixedStore().run, form: relabel.ExportForm{Views: []relabel.View{relabel.ViewMessages}}}
	l, err := b.label(someTrajectory(1, 1, 4), nil)
	if err != nil {
		t.Fatal(err)
	}
	shorter, unlabelled := someTrajectory(1, 1, 3), someTrajectory(1, 1, 4)
	unlabelled.Turns[2].Label = nil
	for name, tr := range map[string]relabel.ExportTrajectory{"another": someTrajectory(1, 2, 4), "shorter": shorter, "without a label": unlabelled, "gone": {}} {
		rows := newMessagesRows(b, []*labelled{l}, func() (relabel.ExportTrajectory, error, bool) { return tr, nil, name != "gone" })
		if _, err := rows.at(0); relabel.CodeOf(err) != relabel.CodeConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}
