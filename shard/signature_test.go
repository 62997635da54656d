package shard

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// signatureOf signs the only label of a conversation of a set.
func signatureOf(t *testing.T, form relabel.ExportForm, set string, c relabel.Conversation) (s signature) {
	t.Helper()
	from := relabel.ConversationSet{Name: set}
	b := &selector{run: relabel.Run{Recipe: relabel.SFT}, sel: relabel.ExportSelection{Conversations: &from}, form: form}
	var signed bytes.Buffer
	must(t, b.sign(&signed, 0, c.Trajectory(from)))
	must(t, binary.Read(&signed, binary.BigEndian, &s))
	if signed.Len() != 0 {
		t.Errorf("%d bytes follow the label", signed.Len())
	}
	return s
}

func TestEqualLabelsHaveTheSameToolsStateAndAction(t *testing.T) {
	say := func(ask, think, answer string) relabel.Conversation {
		return relabel.Conversation{Number: 1, Labels: []int{1}, Messages: []relabel.Message{{Role: relabel.RoleUser, Content: ask}, {Role: relabel.RoleAssistant, ReasoningContent: think, Content: answer}}}
	}
	base := say("Fix 12.", "Hm.", "Done.")
	tools := base
	tools.Tools = []relabel.Tool{{Name: "look", Parameters: `{"type":"object"}`}}
	drop := relabel.ExportForm{Reasoning: relabel.ReasoningDrop}
	first, dropped := signatureOf(t, relabel.ExportForm{}, "a", base), signatureOf(t, drop, "a", base)
	for name, c := range map[string]struct {
		form        relabel.ExportForm
		set         string
		of          relabel.Conversation
		exact, near bool
	}{
		"the same":                        {set: "a", of: base, exact: true, near: true},
		"another task":                    {set: "b", of: base, exact: true},
		"another number":                  {set: "a", of: say("Fix 13.", "Hm.", "Done."), near: true},
		"another state":                   {set: "a", of: say("Mend 12.", "Hm.", "Done.")},
		"another label":                   {set: "a", of: say("Fix 12.", "Hm.", "No.")},
		"other tools":                     {set: "a", of: tools},
		"another thought":                 {set: "a", of: say("Fix 12.", "Ah.", "Done.")},
		"another thought that is dropped": {form: drop, set: "a", of: say("Fix 12.", "Ah.", "Done."), exact: true, near: true},
		"another label without thoughts":  {form: drop, set: "a", of: say("Fix 12.", "Hm.", "No.")},
	} {
		want := first
		if c.form.Reasoning != "" {
			want = dropped
		}
		if got := signatureOf(t, c.form, c.set, c.of); (got.Exact == want.Exact) != c.exact || (got.Near == want.Near) != c.near {
			t.Errorf("%s: exact %v, near %v", name, got.Exact == want.Exact, got.Near == want.Near)
		}
	}
}

func TestTheDrawOfLabelsDependsOnTheSeedAndOnWhatTheyAre(t *testing.T) {
	draw := func(change func(b *selector, tr *relabel.ExportTrajectory, turn *int)) (drawn string) {
		for turn := range 64 {
			b := &selector{run: relabel.Run{Name: "a"}, mixing: mixing{sampled: true, seed: 1, weights: relabel.LabelWeights{Weight: new(0.5)}}}
			tr := relabel.ExportTrajectory{Task: relabel.Task{InstanceID: "task"}, Iteration: relabel.Iteration{Number: 1}}
			change(b, &tr, &turn)
			drawn += string(b.excludeSampled(tr, turn)) + ";"
		}
		return drawn
	}
	first := draw(func(*selector, *relabel.ExportTrajectory, *int) {})
	if n := strings.Count(first, string(NotSampled)); n < 16 || n > 48 {
		t.Errorf("%d of 64 labels are not drawn at 0.5", n)
	}
	if again := draw(func(_ *selector, tr *relabel.ExportTrajectory, _ *int) { tr.Trajectory.ID = relabel.NewID() }); again != first {
		t.Error("the draw depends on ids")
	}
	for name, change := range map[string]func(b *selector, tr *relabel.ExportTrajectory, turn *int){
		"seed":       func(b *selector, _ *relabel.ExportTrajectory, _ *int) { b.seed = 2 },
		"run":        func(b *selector, _ *relabel.ExportTrajectory, _ *int) { b.run.Name = "b" },
		"iteration":  func(_ *selector, tr *relabel.ExportTrajectory, _ *int) { tr.Iteration.Number = 2 },
		"task":       func(_ *selector, tr *relabel.ExportTrajectory, _ *int) { tr.Task.InstanceID = "other" },
		"generation": func(_ *selector, tr *relabel.ExportTrajectory, _ *int) { tr.Trajectory.Generation = 1 },
		"turn":       func(_ *selector, _ *relabel.ExportTrajectory, turn *int) { *turn += 64 },
	} {
		if draw(change) == first {
			t.Errorf("another %s gives the same draw", name)
		}
	}
}

func TestTheSeedDrawsWhichLabelsOfATaskAreExported(t *testing.T) {
	kept := func(seed int64) (dropped []int) {
		c := newComparison(relabel.Mix{LabelsPerTask: 5}, seed, 1)
		var signed bytes.Buffer
		for turn := range 20 {
			must(t, binary.Write(&signed, binary.BigEndian, signature{Turn: uint32(turn + 1), Exact: [16]byte{byte(turn)}, Near: [16]byte{byte(turn)}}))
		}
		must(t, c.add(0, 0, signed.Bytes()))
		for _, d := range c.decide()[0] {
			dropped = append(dropped, d.Turn)
		}
		return dropped
	}
	one := kept(1)
	if len(one) != 15 || !slices.Equal(one, kept(1)) || slices.Equal(one, kept(2)) {
		t.Errorf("dropped %v and %v", one, kept(2))
	}
}
