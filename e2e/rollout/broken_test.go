package rollout

import (
	"errors"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/faketest"
	"relabel/mixer"
)

// settled rolls the trajectory out until it ends, in at most that many attempts, without the
// pauses between them.
func (m *mortal) settled(most int) *relabel.Trajectory {
	m.t.Helper()
	for range most {
		m.arm(moment{}, func() {})
		if err := m.work(m.t.Context()); err != nil && !errors.Is(err, mixer.ErrReleased) {
			m.t.Fatal(err)
		}
		tr, err := m.db.FindTrajectory(m.t.Context(), m.claimed)
		noError(m.t, err)
		if tr.State != relabel.Queued {
			return &tr
		}
		_, err = m.db.Pool().Exec(m.t.Context(), "UPDATE trajectories SET claimable_at = clock_timestamp() WHERE id = $1", m.claimed)
		noError(m.t, err)
	}
	m.t.Fatalf("it is still queued after %d attempts", most)
	return nil
}

// A sandbox that an agent breaks each time is the agent's end, from the model's answer to the
// database: at a turn's action, and when the patch is taken after the last one.
func TestAnAgentThatBreaksTwoSandboxesEndsItsRollout(t *testing.T) {
	for name, c := range map[string]struct {
		breaks string // a text of the command at which the sandbox dies
		turns  int
	}{
		"an action": {"echo b >> log", 2},
		"the patch": {"git apply --check --cached", 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMortal(t)
			m.queue()
			m.host.SetFaults(faketest.Faults{DieIn: c.breaks})
			tr := m.settled(3)
			if tr.State != relabel.Done || tr.EndReason != relabel.EndSandboxBroken || tr.Turns != c.turns || tr.Attempt != 2 || *tr.Submitted {
				t.Errorf("%s, %s, %d turns, attempt %d: %s", tr.State, tr.EndReason, tr.Turns, tr.Attempt, tr.FailureDetail)
			}
			turns, err := m.db.ListTurns(t.Context(), m.claimed, 1, 100)
			noError(t, err)
			last := turns[len(turns)-1]
			if told := strings.Contains(last.Observations[0].Content, "sandbox broke"); told != (c.turns == 2) || last.Label.Status != relabel.Received {
				t.Errorf("the last turn: %+v, its label %s", last.Observations, last.Label.Status)
			}
			if p, err := m.db.FindPatch(t.Context(), m.claimed); err != nil || len(p) > 0 {
				t.Errorf("patch %q, %v", p, err)
			}
			if misuses := m.host.Misuses(); len(misuses) > 0 {
				t.Error(misuses)
			}
		})
	}
}
