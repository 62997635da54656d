package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAKillAtAnyOperationChangesNothing kills a worker before and after each operation of
// a rollout, and a second one in its resumption, and compares with a rollout that nothing
// befell.
func TestAKillAtAnyOperationChangesNothing(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	m.queue()
	m.roll(0, false)
	want := m.outcome()
	if !strings.Contains(want, "done finish") || !strings.Contains(want, "true resolved") {
		t.Fatalf("undisturbed: %s", want)
	}
	struck := map[string]bool{}
	for _, after := range []bool{false, true} {
		for n, reached := 1, true; reached && !t.Failed(); n++ {
			m.queue()
			first := m.roll(n, after)
			reached = first != ""
			struck[first] = true
			second := ""
			if n%3 == 0 && m.outcome() != want {
				second = m.roll(n/2+1, !after)
			}
			if m.outcome() != want {
				m.roll(0, false)
			}
			if got, differs := m.outcome(), m.diverged(); got != want || differs != "" {
				t.Errorf("killed at %d, %s (after: %v), then at %s; diverged: %q\n%s\nwant\n%s", n, first, after, second, differs, got, want)
			}
		}
	}
	for _, op := range []string{"ClaimNext", "Start", "SetSandbox", "act", "label", "Execute", "Tree", "CommitTurn", "SettleLabel", "Patch", "EndRollout", "BeginVerifying", "Verify", "Finish"} {
		if !struck[op] {
			t.Errorf("no worker was killed at %s", op)
		}
	}
	if left := m.host.Misuses(); len(left) > 0 {
		t.Errorf("sandboxes: %v", left)
	}
}

// TestAReplayInAnotherImageBeginsAgain changes what the image holds between two attempts.
func TestAReplayInAnotherImageBeginsAgain(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	m.queue()
	for n := 1; m.op != "CommitTurn" || m.turns() < 3; n++ {
		m.queue()
		m.roll(n, true)
	}
	prepare := m.host.Prepare
	m.host.Prepare = func(image, workdir string) error {
		if err := prepare(image, workdir); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(workdir, "log"), []byte("what was not there before\n"), 0o644)
	}
	m.roll(0, false)
	if got, want := m.diverged(), "turn 1: the working tree is another one"; got != want {
		t.Errorf("diverged: %q, want %q", got, want)
	}
	if got := m.outcome(); !strings.Contains(got, "done finish") || !strings.Contains(got, "what was not there before") {
		t.Errorf("the second attempt: %s", got)
	}
}

func (m *mortal) turns() int {
	tr, err := m.db.FindTrajectory(context.Background(), m.claimed)
	noError(m.t, err)
	return tr.Turns
}
