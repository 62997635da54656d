package e2e

import (
	"bytes"
	"slices"
	"testing"

	"relabel/policy/scripted"
)

func TestTheSameSeedGivesTheSameExecutorsAndTheSameActions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := newModels(t, l, scripted.Config{})
	b := newBench(t, l, m.teacher())
	student := b.policy(t, m.student("0.4"))
	half := map[string]any{"beta": 0.5, "generations": 2}
	first := b.collect(t, b.run(t, "first", nil), student, half)
	second := b.collect(t, b.run(t, "second", nil), student, half)
	other := b.finish(t, b.start(t, b.run(t, "other", map[string]any{"seed": 8}), student, half))
	for _, r := range []*round{&first, &second, &other} {
		slices.SortFunc(r.trajectories, func(x, y rolled) int {
			return bytes.Compare([]byte(x.InstanceID+string(rune(x.Generation))), []byte(y.InstanceID+string(rune(y.Generation))))
		})
	}
	drawnAnew := false
	for i, one := range first.trajectories {
		two := second.trajectories[i]
		drawnAnew = drawnAnew || one.Executors != other.trajectories[i].Executors
		if one.ID == two.ID || one.InstanceID != two.InstanceID || one.Generation != two.Generation {
			t.Fatalf("%s and %s are compared", one.InstanceID, two.InstanceID)
		}
		if one.Executors != two.Executors || one.Turns != two.Turns || one.EndReason != two.EndReason {
			t.Errorf("%s: %s ended after %d turns by %s, then %s after %d by %s", one.InstanceID, one.Executors, one.Turns, one.EndReason, two.Executors, two.Turns, two.EndReason)
			continue
		}
		for k, turn := range one.turns {
			again := two.turns[k]
			if !bytes.Equal(turn.Action.Message, again.Action.Message) || !bytes.Equal(turn.Label.Message, again.Label.Message) {
				t.Errorf("turn %d of %s: %s labelled %s, then %s labelled %s", turn.T, one.InstanceID, turn.Action.Message, turn.Label.Message, again.Action.Message, again.Label.Message)
			}
		}
	}
	if !drawnAnew {
		t.Error("another seed draws the same executors")
	}
}
