package mixer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

// rollUntil rolls until turn t is committed, and dies then.
func (b *bench) rollUntil(t *testing.T, turn int) {
	t.Helper()
	ctx, die := context.WithCancel(context.Background())
	defer die()
	b.store.after = func(_ context.Context, op string) error {
		b.store.mu.Lock()
		committed := len(b.store.turns[b.store.trail])
		b.store.mu.Unlock()
		if op == "CommitTurn" && committed == turn {
			b.store.requeued()
			die()
		}
		return nil
	}
	_ = b.roll(ctx)
	b.store.after = nil
	if b.store.state != relabel.Queued || len(b.turns()) != turn {
		t.Fatalf("%s with %d turns", b.store.state, len(b.turns()))
	}
}

func TestResumingAsksNoModelForWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("TsTsTs", 100)
		b.rollUntil(t, 4)
		b.environment.calls = nil
		b.neverTwice()
		rollToDone(t, b)
		for _, c := range b.environment.calls {
			if c.req.T < 5 && c.req.Purpose == relabel.PurposeAct {
				t.Errorf("%s was asked at turn %d for %s", c.role, c.req.T, c.req.Purpose)
			}
		}
		if b.store.attempt != 2 || b.environment.opened != 2 || len(b.turns()) != 6 {
			t.Errorf("attempt %d, %d sandboxes, %d turns", b.store.attempt, b.environment.opened, len(b.turns()))
		}
	})
}

func TestAReplayThatDiffersSaysWhereAndBeginsAgain(t *testing.T) {
	set := func(exit int) func([]relabel.Observation) {
		return func(obs []relabel.Observation) { *obs[0].ExitCode = exit }
	}
	for name, c := range map[string]struct {
		drift func(obs []relabel.Observation)
		want  string
	}{
		"another exit code":         {set(77), "turn 2: call 0 ended with exit code 77, recorded is exit code 2"},
		"no exit code":              {func(obs []relabel.Observation) { obs[0].ExitCode = nil }, "turn 2: call 0 ended with no exit code, recorded is exit code 2"},
		"a call that is not run":    {func(obs []relabel.Observation) { obs[0].Failed = true }, "turn 2: call 0 failed: true, recorded is false"},
		"other words are no matter": {func(obs []relabel.Observation) { obs[0].Content = "it is 12:01" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("sTss", 100)
				b.environment.drift = func(sandbox, t int, obs []relabel.Observation) {
					if sandbox == 2 && t == 2 {
						c.drift(obs)
					}
				}
				b.rollUntil(t, 3)
				rollToDone(t, b)
				if b.store.diverged != c.want {
					t.Errorf("diverged: %q, want %q", b.store.diverged, c.want)
				}
				sandboxes := 3
				if c.want == "" {
					sandboxes = 2
				}
				if b.environment.opened != sandboxes || len(b.turns()) != 4 || b.store.attempt != 2 {
					t.Errorf("%d sandboxes, %d turns, attempt %d", b.environment.opened, len(b.turns()), b.store.attempt)
				}
				if kept := len(b.store.turns[1]); c.want != "" && kept != 3 {
					t.Errorf("%d turns of the old attempt are kept", kept)
				}
				for _, turn := range b.turns() {
					if strings.Contains(turn.Observations[0].Content, "12:01") || turn.Label.Status != relabel.Received {
						t.Errorf("turn %+v", turn)
					}
				}
			})
		})
	}
}

func TestASearchThatAnswersOtherwiseDiverges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTss", 100)
		b.store.claim.Run.TaskKind = relabel.Localise
		b.environment.drift = func(sandbox, t int, obs []relabel.Observation) {
			if sandbox == 2 && t == 2 {
				obs[0].Content = "as another parser has it"
			}
		}
		b.rollUntil(t, 3)
		rollToDone(t, b)
		if want := "turn 2: call 0 has another answer"; b.store.diverged != want {
			t.Errorf("diverged: %q, want %q", b.store.diverged, want)
		}
	})
}

func TestAReplayInAnotherTreeDiverges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTss", 100)
		b.rollUntil(t, 3)
		b.store.turns[1][2].Tree = "a file that is not there this time"
		rollToDone(t, b)
		if want := "turn 3: the working tree is another one"; b.store.diverged != want {
			t.Errorf("diverged: %q, want %q", b.store.diverged, want)
		}
	})
}

func TestARolloutThatBeginsAgainHasNotBeenSilentYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := text("hm", "stop")
		b := newBench("ssss", 100)
		b.environment.student = scripted(silent, silent, text("", "tool_calls", bash("{}")))
		b.environment.drift = func(sandbox, t int, obs []relabel.Observation) { obs[0].Failed = sandbox == 2 && t == 2 }
		b.rollUntil(t, 3)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndMaxTurns, 4)
	})
}

// What the models see after a replay is what they saw before, whatever the fresh
// sandbox printed.
func TestTheStateIsMadeOfWhatWasRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		b.environment.drift = func(sandbox, _ int, obs []relabel.Observation) {
			obs[0].Content = fmt.Sprintf("sandbox %d", sandbox)
		}
		b.rollUntil(t, 2)
		rollToDone(t, b)
		for _, c := range b.environment.callsOf(relabel.Student) {
			if c.req.T == 3 && (strings.Contains(c.text, "sandbox 2") || !strings.Contains(c.text, "sandbox 1")) {
				t.Errorf("the student saw %s", c.text)
			}
		}
	})
}

// The clock of a rollout stops while no worker holds it, and during replay.
func TestTheWallClockCountsTurnsAndNeitherWaitingNorReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssssss", 100)
		b.store.claim.Run.Limits.WallClockSeconds = 10
		b.environment.student = talks(relabel.Student, 100, 2*time.Second)
		b.environment.executeTime = time.Second
		b.rollUntil(t, 2)
		time.Sleep(time.Hour)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndWallClock, 3) // 3 s each: the fourth is cut at 10 s
	})
}

func TestSilenceIsCountedOverAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssssss", 100)
		b.environment.student = scripted(text("hm", "stop"))
		b.rollUntil(t, 2)
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndNoCall, 3)
	})
}

// The last turn was committed, the end was not.
func TestARolloutThatItsLastTurnEndedEndsTheSameWay(t *testing.T) {
	for reason, student := range map[relabel.EndReason]func(context.Context, relabel.ChatRequest) (relabel.Completion, error){
		relabel.EndFinish:   talks(relabel.Student, 3, 0),
		relabel.EndNoCall:   scripted(text("hm", "stop")),
		relabel.EndMaxTurns: talks(relabel.Student, 100, 0),
	} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("sss", 100)
				b.environment.student = student
				b.rollUntil(t, 3)
				n := len(b.environment.callsOf(relabel.Student))
				rollToDone(t, b)
				wantEnd(t, b, reason, 3)
				if len(b.environment.callsOf(relabel.Student)) != n {
					t.Error("the student was asked again")
				}
			})
		})
	}
}

func TestWhatWasOverNeedsNoSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 3)
		b.environment.teacher = talks(relabel.Teacher, 3, time.Minute)
		ctx, die := context.WithTimeout(context.Background(), 100*time.Second) // labels are waited for
		defer die()
		if err := b.roll(ctx); !errors.Is(err, ErrReleased) || b.store.ending == nil {
			t.Fatalf("%v, %+v", err, b.store.ending)
		}
		b.environment.openPolicy = func(p relabel.Policy) error {
			if p.Name == string(relabel.Student) {
				t.Error("the student is opened")
			}
			return nil
		}
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndFinish, 3)
		if b.environment.opened != 1 {
			t.Errorf("%d sandboxes", b.environment.opened)
		}
	})
}

func TestABrokenSandboxIsTriedAgainUntilTheBudgetIsUsedUp(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(b *bench, broken func() bool)
		reason relabel.FailureReason
	}{
		"it does not start": {func(b *bench, broken func() bool) {
			b.environment.before = func(_ context.Context, op string) error {
				if op == "Start" && broken() {
					return relabel.Errorf(relabel.CodeEnvironment, "the engine is gone")
				}
				return nil
			}
		}, relabel.FailEnvironment},
		"it dies in a turn": {func(b *bench, broken func() bool) {
			b.engineFails()
			b.environment.execute = func(_ context.Context, t int, _ relabel.Message) error {
				if t == 3 && broken() {
					return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
				}
				return nil
			}
		}, relabel.FailEnvironment},
		"the verifier's does": {func(b *bench, broken func() bool) {
			verify := b.mixer.environment.Verify
			b.mixer.environment.Verify = func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
				if broken() {
					return relabel.Verdict{Infra: "disk full"}, nil
				}
				return verify(ctx, c, patch)
			}
		}, relabel.FailVerifier},
	} {
		for _, times := range []int{3, 4} {
			t.Run(fmt.Sprint(name, " ", times, " times"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench("sTsTs", 5)
					rollToDone(t, b)
					want := b.outcome()
					b = newBench("sTsTs", 5)
					b.store.claim.Run.Limits.EnvironmentRetries = 3
					b.neverTwice()
					left := times
					c.edit(b, func() bool { left--; return left >= 0 })
					for k := range 3 {
						if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued {
							t.Fatalf("after %d: %v, %s", k+1, err, b.store.state)
						}
					}
					if err := b.roll(t.Context()); err != nil {
						t.Fatal(err)
					}
					if times == 3 && b.outcome() != want {
						t.Errorf("%s\nwant\n%s", b.outcome(), want)
					}
					if times == 4 && (b.store.state != relabel.Failed || b.store.failure != c.reason || b.store.verdict != nil) {
						t.Errorf("%s %s %+v", b.store.state, b.store.failure, b.store.verdict)
					}
					if p := b.problems(); len(p) > 0 {
						t.Error(p)
					}
				})
			})
		}
	}
}

func TestAnImageOrRepositoryThatIsMissingOrNotTheTasksIsNotTriedAgain(t *testing.T) {
	for code, reason := range map[relabel.Code]relabel.FailureReason{
		relabel.CodeImageMissing: relabel.FailImageMissing, relabel.CodeInvalid: relabel.FailEnvironment, relabel.CodeNotFound: relabel.FailEnvironment,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("s", 1)
			b.store.claim.Run.Limits.EnvironmentRetries = 3
			b.environment.startErr = relabel.Errorf(code, "no image x")
			if err := b.roll(t.Context()); err != nil || b.store.failure != reason {
				t.Errorf("%v, %s", err, b.store.failure)
			}
		})
	}
}
