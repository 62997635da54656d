package mixer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

// scripted answers turn t with answers[t-1], the last one from there on.
func scripted(answers ...relabel.Completion) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return func(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		return answers[min(req.T, len(answers))-1], nil
	}
}

func text(content, finish string, calls ...relabel.ToolCall) relabel.Completion {
	return relabel.Completion{Message: relabel.Message{Role: relabel.RoleAssistant, Content: content, ToolCalls: calls},
		FinishReason: finish, Usage: &relabel.Usage{PromptTokens: 1, CompletionTokens: 1}}
}

func bash(arguments string) relabel.ToolCall {
	return relabel.ToolCall{ID: "x", Name: "execute_bash", Arguments: arguments}
}

func rollToDone(t *testing.T, b *bench) {
	t.Helper()
	if err := b.roll(t.Context()); err != nil || b.store.state != relabel.Done {
		t.Fatalf("%v, %s: %s %s", err, b.store.state, b.store.failure, b.store.detail)
	}
	if p := b.problems(); len(p) > 0 {
		t.Error(p)
	}
}

func wantEnd(t *testing.T, b *bench, reason relabel.EndReason, turns int) {
	t.Helper()
	if got := b.store.ending; got.Reason != reason || got.Submitted != (reason == relabel.EndFinish) {
		t.Errorf("ended with %+v, want %s", got, reason)
	}
	if got := len(b.turns()); got != turns {
		t.Errorf("%d turns, want %d", got, turns)
	}
}

func TestRolloutEndsAtMaxTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTsTs", 100)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndMaxTurns, 5)
		for _, turn := range b.turns() {
			if turn.Label.Status != relabel.Received {
				t.Errorf("turn %d has label %+v", turn.T, turn.Label)
			}
		}
	})
}

func TestThreeActionsInARowWithoutACallEndTheTrajectory(t *testing.T) {
	silent := text("hm", "stop")
	refused := text("", "stop")
	refused.Refusal = "no"
	cut := text("so I", "length")
	cutCall := text("", "length", bash("{"))
	work := text("", "tool_calls", bash("{}"))
	for name, c := range map[string]struct {
		answers []relabel.Completion
		reason  relabel.EndReason
		turns   int
	}{
		"silent, refused, cut":         {[]relabel.Completion{silent, refused, cut}, relabel.EndNoCall, 3},
		"interrupted by a call":        {[]relabel.Completion{silent, silent, work, cut, refused, silent}, relabel.EndNoCall, 6},
		"a cut call is a call":         {[]relabel.Completion{silent, silent, cutCall, silent, silent, work}, relabel.EndMaxTurns, 8},
		"malformed calls are calls":    {[]relabel.Completion{text("", "tool_calls", bash("{"))}, relabel.EndMaxTurns, 8},
		"three at the last turns, too": {[]relabel.Completion{work, work, work, work, work, silent}, relabel.EndNoCall, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("ssssssss", 100)
				b.environment.student = scripted(c.answers...)
				rollToDone(t, b)
				wantEnd(t, b, c.reason, c.turns)
			})
		})
	}
}

func TestAnswersAreParsedTypedAndLabelsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := text("", "stop")
		refused.Refusal = "no"
		b := newBench("sssss", 100)
		b.environment.student = scripted(text("", "stop"), text("", "tool_calls", bash("{")), refused, text("", "tool_calls", bash("{}")), text("", "length", bash("{}"), bash("{")))
		b.environment.teacher = scripted(text("", "length"), text("", "tool_calls", bash("{")), text("", "stop"), refused)
		rollToDone(t, b)
		actions := []relabel.ParseOutcome{relabel.NoCall, relabel.MalformedCall, relabel.Refused, relabel.ParsedOK, relabel.CutByLength}
		labels := []relabel.ParseOutcome{relabel.CutByLength, relabel.MalformedCall, relabel.NoCall, relabel.Refused, relabel.Refused}
		for k, turn := range b.turns() {
			if turn.Action.Parse != actions[k] || turn.Label.Parse != labels[k] {
				t.Errorf("turn %d: action %s, label %s; want %s, %s", turn.T, turn.Action.Parse, turn.Label.Parse, actions[k], labels[k])
			}
		}
	})
}

func TestAScaffoldHasItsOwnTextForACutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 100)
		b.environment.student = scripted(text("long", "length"))
		b.mixer.environment.Cut = func(c relabel.Claim) string { return "too long for " + c.Task.InstanceID }
		rollToDone(t, b)
		if got := b.turns()[0].Observations; len(got) != 1 || got[0].Content != "too long for "+b.store.claim.Task.InstanceID {
			t.Errorf("observations %+v", got)
		}
	})
}

func TestCutAnswerExecutesNothingAndEachCallIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		b.environment.student = scripted(text("", "length", bash("{}"), bash("{")), text("long", "length"), text("", "tool_calls", bash("{}")))
		ran := 0
		b.environment.execute = func(context.Context, int, relabel.Message) error { ran++; return nil }
		rollToDone(t, b)
		turns := b.turns()
		if ran != 1 {
			t.Errorf("%d actions were run, want the whole one", ran)
		}
		first := turns[0].Observations
		if len(first) != 2 || first[0].CallID != "call_1_0" || first[1].CallID != "call_1_1" || !first[1].Failed || first[0].Content != cutText {
			t.Errorf("observations %+v", first)
		}
		if second := turns[1].Observations; len(second) != 1 || second[0].CallID != "" || second[0].Content != cutText {
			t.Errorf("observations %+v", second)
		}
		if third := turns[2].Observations; third[0].Content != "observed 3.0" {
			t.Errorf("observations %+v", third)
		}
	})
}

func TestContextLimitEndsAfterTheTurnThatReachesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssssss", 100)
		b.store.claim.Run.Limits.MaxContextTokens = 3500
		b.environment.student = func(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			c := says(relabel.Student, req, "execute_bash")
			c.Usage = &relabel.Usage{PromptTokens: 1000 * req.T, CompletionTokens: 500}
			return c, nil
		}
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndContext, 3) // 3000 + 500
	})
}

func TestContextIsEstimatedWhereTheServerDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssssss", 100)
		b.store.claim.Run.Limits.MaxContextTokens = 1000
		long := text(strings.Repeat("x", 1500), "tool_calls", bash("{}"))
		long.Usage = nil
		b.environment.student = scripted(long)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndContext, 3) // 3 × 1500 bytes are over 4 × 1000
	})
}

// The state that the executor finds too long is no turn and has no label.
func TestOverflowAtTheExecutorEndsTheRolloutWithoutATurn(t *testing.T) {
	overflow := relabel.Errorf(relabel.CodeContextOverflow, "too long")
	for _, executors := range []string{"sss", "TTT"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(executors, 100)
			answer := func(who relabel.Role) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
				return func(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
					if req.T == 3 && req.Purpose == relabel.PurposeAct {
						return relabel.Completion{}, overflow
					}
					return says(who, req, "execute_bash"), nil
				}
			}
			b.environment.student, b.environment.teacher = answer(relabel.Student), answer(relabel.Teacher)
			rollToDone(t, b)
			wantEnd(t, b, relabel.EndContext, 2)
			if len(b.store.labels) != 2 {
				t.Errorf("%d labels", len(b.store.labels))
			}
		})
	}
}

func TestLabelThatCannotBeHadIsMissingWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		b.environment.teacher = func(_ context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			switch req.T {
			case 1:
				return relabel.Completion{}, relabel.Errorf(relabel.CodeContextOverflow, "too long")
			case 2:
				return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "HTTP 500").Because(context.DeadlineExceeded)
			}
			return says(relabel.Teacher, req, "finish"), nil
		}
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndMaxTurns, 3)
		for k, want := range []string{"context_overflow", "endpoint: HTTP 500", ""} {
			l := b.turns()[k].Label
			if l.Reason != want || (l.Status == relabel.Missing) != (want != "") || l.PolicyID != b.store.claim.Teacher.ID {
				t.Errorf("label %d: %+v, want reason %q", k+1, l, want)
			}
		}
	})
}

func TestWallClockEndsTheCallOrCommandInHand(t *testing.T) {
	for name, stall := range map[string]func(*bench){
		"the student's call": func(b *bench) { b.environment.student = talks(relabel.Student, 100, 4*time.Second) },
		"the command":        func(b *bench) { b.environment.executeTime = 4 * time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("ssssssss", 100)
				b.store.claim.Run.Limits.WallClockSeconds = 10
				b.environment.teacher = talks(relabel.Teacher, 100, time.Minute)
				stall(b)
				start := time.Now()
				rollToDone(t, b)
				wantEnd(t, b, relabel.EndWallClock, 2)
				if took := time.Since(start); took != 64*time.Second { // the second turn's label comes at 4 + 60
					t.Errorf("took %s", took)
				}
				if len(b.store.labels) != 2 || b.store.pendingLabels() != 0 {
					t.Errorf("labels %v", b.store.labels)
				}
			})
		})
	}
}

// An endpoint that is down or busy is not the agent's doing.
func TestTheWallClockStandsWhileACallWaitsForItsEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssssss", 100)
		b.store.claim.Run.Limits.WallClockSeconds = 10
		answered := talks(relabel.Student, 100, 4*time.Second)
		b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			req.Clock.Stop()
			for range 2 { // a try that fails, and waits before it and the one that is answered
				if err := sleep(ctx, time.Hour); err != nil {
					return relabel.Completion{}, err
				}
				req.Clock.Restart()
				if err := sleep(ctx, time.Second); err != nil {
					return relabel.Completion{}, err
				}
				req.Clock.Stop()
			}
			req.Clock.Restart()
			defer req.Clock.Stop()
			return answered(ctx, req)
		}
		b.rollUntil(t, 1)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndWallClock, 2) // 4 s each: the third is cut at 10 s
	})
}

// What was executed to its end commits, though the time is up by then; no policy is
// asked after it.
func TestTurnThatWasExecutedCommitsThoughTheTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssss", 100)
		b.store.claim.Run.Limits.WallClockSeconds = 10
		b.environment.before = func(ctx context.Context, op string) error {
			if op == "Tree" {
				return sleep(ctx, 6*time.Second)
			}
			return nil
		}
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndWallClock, 2)
		if n := len(b.environment.calls); n != 4 {
			t.Errorf("%d calls, want a student's and a label's of two turns", n)
		}
	})
}

func TestPatchIsASubmissionOnlyWithFinishAndContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ss", 2)
		b.environment.patch = ""
		rollToDone(t, b)
		if e := b.store.ending; e.Reason != relabel.EndFinish || e.Submitted {
			t.Errorf("an empty patch is submitted: %+v", e)
		}
	})
}
