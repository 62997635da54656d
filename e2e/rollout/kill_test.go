package rollout

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestAKillAtAnyOperationChangesNothing kills a worker before and after operations of a
// rollout, and often a second one in its resumption, and compares with an undisturbed
// rollout. It kills at one occurrence of each operation, with RELABEL_TEST_ALL at all.
func TestAKillAtAnyOperationChangesNothing(t *testing.T) {
	t.Parallel()
	const parts = 3
	first, step := partOfFaults()
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			m := newMortal(t)
			want, moments := m.undisturbed()
			for i, at := range moments {
				if i%step == first && i/step%parts == part && !t.Failed() {
					m.killedAt(at, i, want)
				}
			}
			if left := m.host.Misuses(); len(left) > 0 {
				t.Errorf("sandboxes: %v", left)
			}
		})
	}
}

// undisturbed returns what a rollout comes to that nothing befell, and the moments at
// which a worker can die in one.
func (m *mortal) undisturbed() (outcome string, all []moment) {
	m.t.Helper()
	m.queue()
	m.roll(moment{})
	outcome = m.outcome()
	if !strings.Contains(outcome, "done finish") || !strings.Contains(outcome, "true passed") {
		m.t.Fatalf("undisturbed: %s", outcome)
	}
	for _, op := range []string{"ClaimNext", "Start", "SetSandbox", "act", "label", "Execute", "Tree", "CommitTurn", "SettleLabel", "Patch", "EndRollout", "BeginVerifying", "Verify", "Finish"} {
		if m.seen[op] == 0 {
			m.t.Errorf("a rollout without %s", op)
		}
		for _, k := range occurrences(m.seen[op]) {
			all = append(all, moment{op, k, false})
			if op != "Start" { // its after is the before of SetSandbox
				all = append(all, moment{op, k, true})
			}
		}
	}
	return outcome, all
}

// occurrences returns which of n occurrences of an operation to kill at, from 1: the one in
// the middle, or all with RELABEL_TEST_ALL.
func occurrences(n int) (chosen []int) {
	if !everyFault {
		return []int{(n + 1) / 2}
	}
	for k := range n {
		chosen = append(chosen, k+1)
	}
	return chosen
}

// killedAt kills a worker at a moment, the i-th, and in every fourth case another one in
// what follows.
func (m *mortal) killedAt(at moment, i int, want string) {
	m.t.Helper()
	m.queue()
	if !m.roll(at) {
		m.t.Errorf("no worker was killed %s", at)
	}
	second := moment{"", i/2 + 1, !at.after}
	if i%4 == 0 && m.outcome() != want {
		m.roll(second)
	}
	if m.outcome() != want {
		m.roll(moment{})
	}
	if got, differs := m.outcome(), m.diverged(); got != want || differs != "" {
		m.t.Errorf("killed %s, then perhaps %s; diverged: %q\n%s\nwant\n%s", at, second, differs, got, want)
	}
}

// TestAReplayInAnotherImageDivergesAndRestarts changes what the image holds between two attempts.
func TestAReplayInAnotherImageDivergesAndRestarts(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	m.queue()
	if !m.roll(moment{"CommitTurn", 3, true}) || m.turns() != 3 {
		t.Fatalf("%d turns", m.turns())
	}
	prepare := m.host.Prepare
	m.host.Prepare = func(image, workdir string) error {
		if err := prepare(image, workdir); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(workdir, "log"), []byte("what was not there before\n"), 0o644)
	}
	m.roll(moment{})
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
