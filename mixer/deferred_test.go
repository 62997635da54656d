package mixer

import (
	"strings"
	"testing"
	"testing/synctest"

	"relabel"
)

// deferred is a bench whose run defers its labels.
func deferred(b *bench, mode relabel.LabelMode) *bench {
	b.store.claim.Run.Labels = mode
	return b
}

func TestDeferredLabelsAreAskedForAfterTheRollout(t *testing.T) {
	for _, mode := range []relabel.LabelMode{relabel.LabelsDeferred, relabel.LabelsBatch} {
		synctest.Test(t, func(t *testing.T) {
			b := deferred(newBench("ssTss", 5), mode)
			if err := b.roll(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, c := range b.environment.callsOf(relabel.Teacher) {
				if c.req.Purpose == relabel.PurposeLabel {
					t.Errorf("%s: a label was asked for beside turn %d", mode, c.req.T)
				}
			}
			if s := b.store; !s.waits || s.state != relabel.Labelling || s.owner != "" || s.pendingLabels() != 4 || b.environment.closed != 1 {
				t.Errorf("%s: %s, owner %q, %d pending, %d sandboxes removed", mode, s.state, s.owner, s.pendingLabels(), b.environment.closed)
			}
			if p := b.problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// A teacher that is not available yet does not matter to rollouts that do not ask it.
func TestARolloutThatAsksNoTeacherNeedsNone(t *testing.T) {
	for _, mode := range []relabel.LabelMode{relabel.LabelsDeferred, relabel.LabelsBatch} {
		synctest.Test(t, func(t *testing.T) {
			b := deferred(newBench("sss", 3), mode)
			b.environment.openPolicy = func(p relabel.Policy) error {
				if p.Name == string(relabel.Teacher) {
					return relabel.Errorf(relabel.CodeSecretMissing, "no secret")
				}
				return nil
			}
			if err := b.roll(t.Context()); err != nil || !b.store.waits || b.store.pendingLabels() != 3 {
				t.Fatalf("%s: %v: %s %s, %d labels pending", mode, err, b.store.state, b.store.detail, b.store.pendingLabels())
			}
			b.store.waits = false
			b.store.requeued() // a claim of what is over and labelled elsewhere needs none either
			if err := b.roll(t.Context()); err != nil || !b.store.waits {
				t.Errorf("%s: %v: %s %s", mode, err, b.store.state, b.store.detail)
			}
		})
	}
}

// The labels are those that the teacher would have given beside the rollout, asked for at
// the same states, and no sandbox is made for them.
func TestLabellingAsksExactlyWhatIsOwed(t *testing.T) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssTss", 5)
		rollToDone(t, b)
		want = b.outcome()
	})
	synctest.Test(t, func(t *testing.T) {
		b := deferred(newBench("ssTss", 5), relabel.LabelsDeferred)
		if err := b.comesTo(want); err != nil {
			t.Error(err)
		}
		asked := ""
		for _, c := range b.environment.callsOf(relabel.Teacher) {
			if c.req.Purpose == relabel.PurposeLabel {
				asked += string('0' + rune(c.req.T))
			}
		}
		if len(asked) != 4 || !strings.Contains(asked, "1") || !strings.Contains(asked, "5") || strings.Contains(asked, "3") {
			t.Errorf("labels of %s were asked for", asked)
		}
		if b.environment.opened != 1 {
			t.Errorf("%d sandboxes", b.environment.opened)
		}
	})
}

// A worker is killed at every operation of a deferred rollout and of its labelling.
func TestAKillAnywhereInDeferredLabellingChangesNothing(t *testing.T) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		b := journey()
		rollToDone(t, b)
		want = b.outcome()
	})
	for _, after := range []bool{false, true} {
		for n, reached := 1, true; reached; n++ {
			synctest.Test(t, func(t *testing.T) {
				b := deferred(journey(), relabel.LabelsDeferred)
				op := b.rollKilled(n, after)
				if !b.store.state.Terminal() && !b.store.waits {
					if err := b.roll(t.Context()); err != nil {
						t.Errorf("after a kill at %d, %s: %v", n, op, err)
						return
					}
				}
				b.store.label()
				second := b.rollKilled(n, after)
				reached = op != "" || second != ""
				if err := b.comesTo(want); err != nil {
					t.Errorf("killed at operation %d, %s and %s (after: %v): %v", n, op, second, after, err)
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}
