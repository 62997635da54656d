package mixer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"relabel"
)

// ruled is a bench whose iteration follows a label rule, and whose student gives log-probabilities: of
// turn t a token of −t/10.
func ruled(executors string, rule relabel.LabelRule) *bench {
	b := newBench(executors, 100)
	b.store.claim.Iteration.LabelRule = rule
	student := b.environment.student
	b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		c, err := student(ctx, req)
		c.TokenIDs, c.Logprobs = []int32{int32(req.T)}, []float32{-float32(req.T) / 10}
		return c, err
	}
	return b
}

// asks are the turns as letters: T the teacher acted, y the label is there, - it was not selected.
func (b *bench) asks(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	for _, turn := range b.turns() {
		switch {
		case turn.Executor == relabel.Teacher && turn.Label.Status == relabel.Received && turn.LabelChance == nil:
			s.WriteByte('T')
		case turn.Label.Status == relabel.Received && turn.LabelWeight() > 0:
			s.WriteByte('y')
		case turn.Label.Status == relabel.NotSelected && turn.Label.PolicyID == b.store.claim.Teacher.ID && turn.LabelChance != nil && *turn.LabelChance < 1:
			s.WriteByte('-')
		default:
			t.Errorf("turn %d by %s: label %+v, chance %v", turn.T, turn.Executor, turn.Label, turn.LabelChance)
		}
	}
	return s.String()
}

func TestTheTeacherIsAskedOnlyWhereTheRuleSelects(t *testing.T) {
	for _, c := range []struct {
		rule            relabel.LabelRule
		executors, want string // commands of turns 3 and 6 succeed, those of the others fail
	}{
		{"", "sTssTss", "yTyyTyy"},
		{"all", "sTssTss", "yTyyTyy"},
		{"after_failure", "sTssTss", "-Ty-Ty-"},
		{"first_after_parting:1", "sTssTss", "-T-yT-y"},
		{"uncertain:0.35", "sTssTss", "-T-yTyy"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := ruled(c.executors, c.rule)
			rollToDone(t, b)
			if got := b.asks(t); got != c.want {
				t.Errorf("%s: %s, want %s", c.rule, got, c.want)
			}
			for _, asked := range b.environment.callsOf(relabel.Teacher) {
				if asked.req.Purpose == relabel.PurposeLabel && c.want[asked.req.T-1] != 'y' {
					t.Errorf("%s: the teacher was asked at turn %d", c.rule, asked.req.T)
				}
			}
		})
	}
}

// The label of a state at which the rule depends on the student's action is requested after that.
func TestAnUncertainStudentActsBeforeTheTeacherIsAsked(t *testing.T) {
	for rule, want := range map[relabel.LabelRule]string{"all": "label act", "uncertain:0": "act label"} {
		synctest.Test(t, func(t *testing.T) {
			b := ruled("s", rule)
			var order []string
			b.environment.after = func(_ context.Context, op string) error {
				_, purpose, _ := strings.Cut(op, "/")
				b.environment.mu.Lock()
				defer b.environment.mu.Unlock()
				if purpose != "" {
					order = append(order, purpose)
				}
				return nil
			}
			b.environment.asked = func(role relabel.Role, _ relabel.ChatRequest) {
				if role == relabel.Student {
					synctest.Wait() // a label that is requested beside the action is there before
				}
			}
			rollToDone(t, b)
			if got := strings.Join(order, " "); got != want {
				t.Errorf("%s: %s, want %s", rule, got, want)
			}
		})
	}
}

func TestWithoutLogprobsAnUncertainStudentsTeacherIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ss", 100)
		b.store.claim.Iteration.LabelRule = "uncertain:5+0.1"
		rollToDone(t, b)
		for _, turn := range b.turns() {
			if turn.Label.Status != relabel.Received || turn.LabelChance != nil {
				t.Errorf("turn %d: %s, chance %v", turn.T, turn.Label.Status, turn.LabelChance)
			}
		}
	})
}

// Whatever operation a worker dies at, each state has the same decision and the same chance as without that.
func TestATakeoverTakesTheSameDecisions(t *testing.T) {
	for _, rule := range []relabel.LabelRule{"every:2+0.3", "after_failure+0.5", "uncertain:0.35", "first_after_parting:1+0.2"} {
		for _, mode := range []relabel.LabelMode{relabel.LabelsInline, relabel.LabelsDeferred} {
			var want string
			synctest.Test(t, func(t *testing.T) {
				b := deferred(ruled("ssTsssTs", rule), mode)
				_ = b.comesTo("")
				if asks := b.asks(t); len(asks) != 8 || !strings.Contains(asks, "-") || !strings.Contains(asks, "y") {
					t.Fatalf("%s decides %s", rule, asks)
				}
				want = b.outcome()
			})
			for n, reached := 1, true; reached; n++ {
				synctest.Test(t, func(t *testing.T) {
					b := deferred(ruled("ssTsssTs", rule), mode)
					b.neverTwice()
					op := b.rollKilled(n, n%2 == 0)
					reached = op != ""
					if err := b.comesTo(want); err != nil {
						t.Errorf("%s, %s, killed at operation %d, %s: %v", rule, mode, n, op, err)
					}
				})
				if t.Failed() {
					return
				}
			}
		}
	}
}

func TestATrajectoryWithoutASelectedStateWaitsForNoLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := deferred(ruled("sss", "uncertain:99"), relabel.LabelsBatch)
		rollToDone(t, b)
		if got := b.asks(t); got != "---" {
			t.Errorf("it has the labels %s", got)
		}
	})
}
