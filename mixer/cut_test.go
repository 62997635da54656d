package mixer

import (
	"context"
	"testing"
	"testing/synctest"

	"relabel"
)

func TestTheRuleEndsARolloutAfterSomeTurnsOfTheTeacher(t *testing.T) {
	for _, c := range []struct {
		rule      relabel.LabelRule
		executors string
		finishAt  int // the turn whose action is finish
		end       relabel.EndReason
		want      string
	}{
		{"teacher_turns:2", "ssTTTTT", 100, relabel.EndTeacherTurns, "yyTT"},
		{"teacher_turns:1", "sTTTTTT", 100, relabel.EndTeacherTurns, "yT"},
		{"teacher_turns:3", "TTTTTTT", 100, relabel.EndTeacherTurns, "TTT"}, // κ = 0
		{"teacher_turns:2", "ssTTTTT", 4, relabel.EndFinish, "yyTT"},
		{"teacher_turns:2", "ssTTTTT", 2, relabel.EndFinish, "yy"},
		{"teacher_turns:2", "ssTT", 100, relabel.EndMaxTurns, "yyTT"},
		{"teacher_turns:2", "sss", 100, relabel.EndMaxTurns, "yyy"}, // the teacher takes over at no turn
		{"all", "ssTTTTT", 100, relabel.EndMaxTurns, "yyTTTTT"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(c.executors, c.finishAt)
			b.store.claim.Iteration.LabelRule = c.rule
			verified := false
			b.environment.before = func(_ context.Context, op string) error {
				if op == "Verify" {
					verified = true
				}
				return nil
			}
			rollToDone(t, b)
			wantEnd(t, b, c.end, len(c.want))
			if got := b.asks(t); got != c.want {
				t.Errorf("%s of %s: %s, want %s", c.rule, c.executors, got, c.want)
			}
			if cut := c.end == relabel.EndTeacherTurns; verified == cut || (b.store.verdict == nil) != cut || (len(b.store.ending.Patch) == 0) != cut {
				t.Errorf("%s of %s: verified %v, %+v", c.rule, c.executors, verified, b.store.ending)
			}
		})
	}
}

// A worker may die at any operation: the rollout ends after the same turn of the teacher.
func TestATakeoverEndsAfterTheSameTurnOfTheTeacher(t *testing.T) {
	for _, mode := range []relabel.LabelMode{relabel.LabelsInline, relabel.LabelsDeferred} {
		start := func() *bench { return deferred(ruled("sssTTTTT", "teacher_turns:2"), mode) }
		var want string
		synctest.Test(t, func(t *testing.T) {
			b := start()
			_ = b.comesTo("")
			if asks := b.asks(t); asks != "yyyTT" || b.store.ending.Reason != relabel.EndTeacherTurns || b.store.state != relabel.Done {
				t.Fatalf("%s, %+v, %s", asks, b.store.ending, b.store.state)
			}
			want = b.outcome()
		})
		for n, reached := 1, true; reached; n++ {
			for _, after := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					b := start()
					b.neverTwice()
					op := b.rollKilled(n, after)
					reached = op != ""
					if err := b.comesTo(want); err != nil {
						t.Errorf("%s, killed at operation %d, %s, after it: %v: %v", mode, n, op, after, err)
					}
				})
			}
			if t.Failed() {
				return
			}
		}
	}
}
