package mixer

import (
	"testing"
	"testing/synctest"

	"github.com/riverqueue/river"

	"relabel"
)

func TestAWakeUpIsForTheMixerOfItsKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		repair, localise := newBench("s", 1), newBench("s", 1)
		localise.store.claim.Task.Kind = relabel.Localise
		localise.mixer = New(Config{Store: localise.store, Environment: localise.environment.environment(), Owner: "worker", Kind: relabel.Localise})
		w := NewWorker(repair.mixer, localise.mixer)
		for _, step := range []struct {
			kind             relabel.TaskKind
			repair, localise relabel.TrajectoryState
		}{{relabel.Localise, relabel.Queued, relabel.Done}, {"", relabel.Done, relabel.Done}} {
			if err := w.Work(t.Context(), &river.Job[relabel.RolloutJob]{Args: relabel.RolloutJob{TaskKind: step.kind}}); err != nil {
				t.Error(err)
			}
			wait(t, repair)
			wait(t, localise)
			if a, b := repair.store.state, localise.store.state; a != step.repair || b != step.localise {
				t.Errorf("after a wake-up of kind %q: %s and %s", step.kind, a, b)
			}
		}
		job := &river.Job[relabel.RolloutJob]{Args: relabel.RolloutJob{TaskKind: relabel.Localise}}
		wantSnooze(t, NewWorker(repair.mixer).Work(t.Context(), job), 0)
	})
}

// TestActionsAndLabelsAreParsedAtTheirStates counts the actions in the state of each.
func TestActionsAndLabelsAreParsedAtTheirStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 3)
		environment := b.environment.environment()
		environment.Parse = func(_ relabel.Claim, state []relabel.Message, _ relabel.Message) relabel.ParseOutcome {
			return []relabel.ParseOutcome{relabel.MalformedCall, relabel.UnknownTool, relabel.ParsedOK, ""}[actionsIn(state)]
		}
		b.mixer = New(Config{Store: b.store, Environment: environment, Owner: "worker"})
		rollToDone(t, b)
		for i, turn := range b.turns() {
			want := []relabel.ParseOutcome{relabel.MalformedCall, relabel.UnknownTool, relabel.ParsedOK}[i]
			if turn.Action.Parse != want || turn.Label == nil || turn.Label.Parse != want {
				t.Errorf("turn %d: %s, label %+v; want %s", turn.T, turn.Action.Parse, turn.Label, want)
			}
		}
	})
}

func actionsIn(state []relabel.Message) (n int) {
	if len(state) == 0 {
		return 3
	}
	for _, m := range state {
		if m.Role == relabel.RoleAssistant {
			n++
		}
	}
	return n
}
