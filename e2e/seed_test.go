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
	half := map[string]any{"beta": 0.5}
	one, two := b.start(t, b.run(t, "first", nil), student, half), b.start(t, b.run(t, "second", nil), student, half)
	first, second := b.finish(t, one), b.finish(t, two)
	seed := b.run(t, "other", map[string]any{"seed": 8})
	different := b.start(t, seed, student, half)
	noError(t, b.api.post(t.Context(), "/v1/runs/"+seed.ID.String()+"/cancel", nil, nil)) // its draws are made
	other := b.finish(t, different)
	for _, r := range []*round{&first, &second, &other} {
		slices.SortFunc(r.trajectories, func(x, y rolled) int {
			return bytes.Compare([]byte(x.InstanceID+string(rune(x.Generation))), []byte(y.InstanceID+string(rune(y.Generation))))
		})
	}
	differs := false
	for i, one := range first.trajectories {
		two := second.trajectories[i]
		differs = differs || one.Executors != other.trajectories[i].Executors
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
	if !differs {
		t.Error("another seed draws the same executors")
	}
}
