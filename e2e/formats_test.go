package e2e

import (
	"bytes"
	"slices"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/policy/scripted"
)

// TestToolFormatsGiveTheSameActions collects the same round three times: from a server
// that parses calls, in text, and from a server that leaves calls unparsed. What is
// stored as actions, labels, observations and states must be the same, byte for byte.
func TestToolFormatsGiveTheSameActions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	parsing := newModels(t, l, scripted.Config{})
	leaving := newModels(t, l, scripted.Config{Unparsed: true})
	b := newBench(t, l, parsing.teacher())
	rounds := []relabel.ID{
		startRound(t, b, "native", parsing, relabel.ToolsNative),
		startRound(t, b, "text", parsing, relabel.ToolsText),
		startRound(t, b, "unparsed", leaving, relabel.ToolsNative),
	}
	native := b.finish(t, rounds[0])
	for name, other := range map[relabel.CallForm]round{
		relabel.FunctionTags: b.finish(t, rounds[1]),
		relabel.ToolCallJSON: b.finish(t, rounds[2]),
	} {
		forms := 0
		for i, j := range native.trajectories {
			k := slices.IndexFunc(other.trajectories, func(k rolled) bool { return k.InstanceID == j.InstanceID })
			forms += sameTurns(t, name, j, other.trajectories[k])
			if i == 0 {
				sameState(t, b, j, other.trajectories[k])
			}
		}
		if forms == 0 {
			t.Errorf("no action was read as %s", name)
		}
	}
	var kept bool
	for _, j := range native.trajectories {
		for _, turn := range j.turns {
			kept = kept || turn.Action.Parse == relabel.MalformedCall || turn.Label.Parse == relabel.MalformedCall
			if turn.Action.ReadAs != nil || turn.Label.ReadAs != nil {
				t.Errorf("turn %d was read as %v", turn.T, turn.Action.ReadAs)
			}
		}
	}
	if !kept {
		t.Error("no call of the round is malformed: it shows less than it should")
	}
}

// startRound starts a round with teacher and student in one tool format.
func startRound(t *testing.T, b *bench, name string, m *models, format relabel.ToolFormat) relabel.ID {
	t.Helper()
	teacher, student := m.teacher(), m.student("0")
	teacher.Name, teacher.ToolFormat = name+"-teacher", format
	student.Name, student.ToolFormat = name+"-student", format
	b.teacher = b.policy(t, teacher)
	return b.start(t, b.run(t, name, map[string]any{"seed": 11}), b.policy(t, student), map[string]any{"beta": 0.2})
}

// sameTurns compares a trajectory with the one of another format, and counts the actions
// that were read as form.
func sameTurns(t *testing.T, form relabel.CallForm, want, got rolled) (forms int) {
	t.Helper()
	if len(got.turns) != len(want.turns) || got.EndReason != want.EndReason {
		t.Fatalf("%s: %d turns, %s; natively %d, %s", form, len(got.turns), got.EndReason, len(want.turns), want.EndReason)
	}
	for i, turn := range want.turns {
		for what, pair := range map[string][2]api.ActionView{"action": {turn.Action, got.turns[i].Action}, "label": {*turn.Label, *got.turns[i].Label}} {
			if !bytes.Equal(pair[0].Message, pair[1].Message) || pair[0].Parse != pair[1].Parse {
				t.Fatalf("%s: %s of turn %d of %s is %s\n%s\nnot %s\n%s", form, what, turn.T, want.InstanceID, pair[1].Parse, pair[1].Message, pair[0].Parse, pair[0].Message)
			}
			if slices.Contains(pair[1].ReadAs, form) {
				forms++
				if !bytes.Contains(pair[1].Raw, []byte(`"content":`)) || bytes.Contains(pair[1].Raw, []byte(`"tool_calls"`)) {
					t.Errorf("%s: what the server wrote is not kept: %s", form, pair[1].Raw)
				}
			}
		}
		for k, o := range turn.Observations {
			if other := got.turns[i].Observations[k]; o.CallID != other.CallID || o.Tool != other.Tool || clock.ReplaceAllString(o.Content, "") != clock.ReplaceAllString(other.Content, "") {
				t.Fatalf("%s: observation %d of turn %d is\n%+v\nnot\n%+v", form, k, turn.T, other, o)
			}
		}
	}
	return forms
}

// sameState compares the last states of two trajectories.
func sameState(t *testing.T, b *bench, want, got rolled) {
	t.Helper()
	last := want.turns[len(want.turns)-1].T
	a, o := b.state(t, want.Trajectory, last), b.state(t, got.Trajectory, last)
	if !bytes.Equal(clock.ReplaceAll(a, nil), clock.ReplaceAll(o, nil)) {
		t.Errorf("the states at turn %d differ:\n%.300s\n%.300s", last, pastCommon(string(a), string(o)), pastCommon(string(o), string(a)))
	}
}
