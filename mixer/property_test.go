package mixer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"relabel"
	"relabel/chat"
)

// scenario is a drawn rollout: who executes, how long everything takes, what fails.
type scenario struct {
	executors        string
	teacher, student []time.Duration // latency by turn
	labelFaults      []relabel.Code  // by turn; "" if the label is received
	tools            []string        // the executor's tool by turn; "" is no call
	command          time.Duration
	downAt           int // the turn whose executor fails; 0 for none
}

func drawScenario(t *rapid.T) scenario {
	turns := rapid.IntRange(1, 14).Draw(t, "turns")
	latency := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 0, 1, 500, 1000, 7000, 90000}).Draw(t, "ms")) * time.Millisecond
	})
	s := scenario{
		executors: rapid.OneOf(rapid.Just(strings.Repeat("s", turns)), rapid.Just(strings.Repeat("T", turns)),
			rapid.StringOfN(rapid.SampledFrom([]rune("sT")), turns, turns, -1)).Draw(t, "executors"),
		teacher:     rapid.SliceOfN(latency, turns, turns).Draw(t, "teacher"),
		student:     rapid.SliceOfN(latency, turns, turns).Draw(t, "student"),
		labelFaults: rapid.SliceOfN(rapid.SampledFrom([]relabel.Code{"", "", "", relabel.CodeEndpoint, relabel.CodeContextOverflow, relabel.CodeSecretMissing}), turns, turns).Draw(t, "faults"),
		tools:       rapid.SliceOfN(rapid.SampledFrom([]string{"execute_bash", "execute_bash", "execute_bash", "execute_bash", "", "finish"}), turns, turns).Draw(t, "tools"),
		command:     latency.Draw(t, "command"),
	}
	if rapid.IntRange(0, 4).Draw(t, "breaks") == 0 {
		s.downAt = rapid.IntRange(1, turns).Draw(t, "down at")
	}
	return s
}

// policy answers as the scenario says.
func (s scenario) policy(who relabel.Role, latency []time.Duration) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		if err := sleep(ctx, latency[req.T-1]); err != nil {
			return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "given up").Because(err)
		}
		fault := s.labelFaults[req.T-1]
		switch {
		case req.Purpose == relabel.PurposeLabel && fault != "":
			return relabel.Completion{}, relabel.Errorf(fault, "no label")
		case req.Purpose == relabel.PurposeAct && req.T == s.downAt:
			return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "down")
		case req.Purpose == relabel.PurposeLabel:
			return says(who, req, "finish"), nil // a label is never executed, finish or not
		}
		c := says(who, req, s.tools[req.T-1])
		if s.tools[req.T-1] == "" {
			c.Message.ToolCalls = nil
		}
		return c, nil
	}
}

// TestEveryVisitedStateHasOneLabel holds algorithm 1 to its word, whatever takes how
// long and whichever label fails.
func TestEveryVisitedStateHasOneLabel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		b := newBench(s.executors, 0)
		b.store.claim.Run.Limits.WallClockSeconds = 1 << 30
		b.environment.teacher, b.environment.student = s.policy(relabel.Teacher, s.teacher), s.policy(relabel.Student, s.student)
		b.environment.executeTime = s.command
		var err error
		synctest.Test(t, func(t *testing.T) { err = b.roll(context.Background()) })
		if err != nil {
			rt.Fatal(err)
		}
		for _, check := range []func(scenario, *bench) error{checkOutcome, checkLabels, checkCalls, checkStates} {
			if err := check(s, b); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// visited is how many turns the scenario has, and how it ends.
func (s scenario) visited() (int, relabel.EndReason) {
	silent := 0
	for k, tool := range s.tools {
		silent++
		if tool != "" {
			silent = 0
		}
		switch {
		case k+1 == s.downAt:
			return k, ""
		case tool == "finish":
			return k + 1, relabel.EndFinish
		case silent == maxSilent:
			return k + 1, relabel.EndNoCall
		}
	}
	return len(s.tools), relabel.EndMaxTurns
}

func checkOutcome(s scenario, b *bench) error {
	n, end := s.visited()
	turns := b.turns()
	if p := b.problems(); len(p) > 0 {
		return fmt.Errorf("contract: %v", p)
	}
	if executed(turns) != s.executors[:n] {
		return fmt.Errorf("executed by %s, drawn %s, %d turns", executed(turns), s.executors, n)
	}
	if end == "" {
		if b.store.state != relabel.Failed || b.store.failure != relabel.FailEndpoint {
			return fmt.Errorf("%s %s with the executor down", b.store.state, b.store.failure)
		}
		return nil
	}
	if b.store.state != relabel.Done || b.store.ending.Reason != end {
		return fmt.Errorf("%s, ended with %+v, want %s", b.store.state, b.store.ending, end)
	}
	return nil
}

func checkLabels(s scenario, b *bench) error {
	turns := b.turns()
	if len(b.store.labels) != len(turns) {
		return fmt.Errorf("%d labels of %d turns", len(b.store.labels), len(turns))
	}
	for k, turn := range turns {
		l, fault := turn.Label, s.labelFaults[k]
		switch {
		case l == nil || l.PolicyID != b.store.claim.Teacher.ID:
			return fmt.Errorf("turn %d: label %+v", turn.T, l)
		case turn.Executor == relabel.Teacher && l.Message.Content != turn.Action.Message.Content:
			return fmt.Errorf("turn %d: the teacher's own action is not its label", turn.T)
		case turn.Executor == relabel.Teacher:
		case turn.Action.PolicyID != b.store.claim.Student.ID:
			return fmt.Errorf("turn %d: the student's action is of %s", turn.T, turn.Action.PolicyID)
		case b.store.state == relabel.Failed && l.Status == relabel.Pending: // nothing is settled after a failure
		case fault == "" && (l.Status != relabel.Received || l.Message.Content != fmt.Sprintf("<teacher label %d>", turn.T)):
			return fmt.Errorf("turn %d: label %+v", turn.T, l)
		case fault != "" && (l.Status != relabel.Missing || !strings.HasPrefix(l.Reason, string(fault)) || l.Message.Content != ""):
			return fmt.Errorf("turn %d: label %+v after %s", turn.T, l, fault)
		}
	}
	return nil
}

// checkCalls demands one call of the teacher and, where it executes, one of the student
// at each state that was reached, the one where an executor failed among them.
func checkCalls(s scenario, b *bench) error {
	reached, end := s.visited()
	if end == "" {
		reached++
	}
	var teacher, student []string
	for _, c := range b.environment.callsOf(relabel.Teacher) {
		teacher = append(teacher, fmt.Sprint(c.req.T, c.req.Purpose))
	}
	for _, c := range b.environment.callsOf(relabel.Student) {
		student = append(student, fmt.Sprint(c.req.T, c.req.Purpose))
	}
	var wantTeacher, wantStudent []string
	for k := range reached {
		purpose := relabel.PurposeAct
		if s.executors[k] == 's' {
			purpose = relabel.PurposeLabel
			wantStudent = append(wantStudent, fmt.Sprint(k+1, relabel.PurposeAct))
		}
		wantTeacher = append(wantTeacher, fmt.Sprint(k+1, purpose))
	}
	for _, calls := range [][]string{teacher, student, wantTeacher, wantStudent} {
		slices.Sort(calls)
	}
	// The label of a state whose student fails at once may be cancelled before it is requested.
	if len(teacher) == len(wantTeacher)-1 && end == "" {
		teacher = wantTeacher
	}
	if !slices.Equal(teacher, wantTeacher) || !slices.Equal(student, wantStudent) {
		return fmt.Errorf("teacher asked %v, want %v; student asked %v, want %v", teacher, wantTeacher, student, wantStudent)
	}
	return nil
}

// checkStates demands that every policy at t saw the same bytes, those of st by eq. 7,
// and that no label and no endpoint's call id is among them.
func checkStates(s scenario, b *bench) error {
	opening := b.store.claim.Run.Prompts.Opening(b.store.claim.Task)
	turns := b.store.turns[b.store.attempt]
	for _, c := range b.environment.calls {
		want := string(chat.AppendMessages(nil, relabel.State(opening, turns[:c.req.T-1])))
		if c.text != want {
			return fmt.Errorf("%s saw at turn %d\n%s\nwant\n%s", c.role, c.req.T, c.text, want)
		}
		if strings.Contains(c.text, " label ") || strings.Contains(c.text, "endpoint-") {
			return fmt.Errorf("%s saw at turn %d what is not of the state:\n%s", c.role, c.req.T, c.text)
		}
		if again := string(chat.AppendMessages(nil, c.req.Messages)); again != c.text {
			return fmt.Errorf("the state of turn %d changed after it was sent:\n%s\n%s", c.req.T, c.text, again)
		}
	}
	return nil
}
