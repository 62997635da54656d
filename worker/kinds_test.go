package worker

import (
	"slices"
	"testing"

	"relabel"
)

func TestAWorkerSaysWhichKindsOfTaskItRollsOut(t *testing.T) {
	well, out := []relabel.Engine{{Name: "a"}}, []relabel.Engine{{Name: "a", Problem: "it does not answer"}}
	for name, c := range map[string]struct {
		engines            []relabel.Engine
		rollouts, searches int
		want               []relabel.TaskKind
	}{
		"an engine":         {well, 4, 0, []relabel.TaskKind{relabel.Repair, relabel.Terminal}},
		"both":              {well, 4, 64, []relabel.TaskKind{relabel.Repair, relabel.Terminal, relabel.Localise}},
		"mirrors alone":     {nil, 0, 64, []relabel.TaskKind{relabel.Localise}},
		"the engine is out": {out, 4, 64, []relabel.TaskKind{relabel.Localise}},
		"nothing works":     {out, 4, 0, nil},
		"no rollouts":       {well, 0, 0, nil},
	} {
		w := &Worker{Config: Config{Engines: func() []relabel.Engine { return c.engines }, Me: relabel.Worker{Rollouts: c.rollouts, Searches: c.searches}}}
		if got := w.Self().TaskKinds; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
