package mixer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

func TestFailuresAreNotTheAgentsAndSayWhy(t *testing.T) {
	down := func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
		return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "no answer after 4 tries").Because(errors.New("dial tcp: hidden"))
	}
	for name, c := range map[string]struct {
		executors string
		edit      func(*bench)
		reason    relabel.FailureReason
		detail    string
	}{
		"student down": {"sss", func(b *bench) { b.environment.student = down }, relabel.FailEndpoint, "student: no answer after 4 tries"},
		"teacher down": {"sTs", func(b *bench) { b.environment.teacher = down }, relabel.FailEndpoint, "teacher: no answer after 4 tries"},
		"secret missing": {"sss", func(b *bench) {
			b.environment.openPolicy = func(relabel.Policy) error {
				return relabel.Errorf(relabel.CodeSecretMissing, "there is no secret KEY")
			}
		}, relabel.FailSecret, "teacher: there is no secret KEY"},
		"image missing": {"sss", func(b *bench) {
			b.environment.startErr = relabel.Errorf(relabel.CodeImageMissing, "no image x")
		}, relabel.FailImageMissing, "no image x"},
		"sandbox does not start": {"sss", func(b *bench) {
			b.environment.startErr = relabel.Errorf(relabel.CodeEnvironment, "the engine hangs")
		}, relabel.FailEnvironment, "the engine hangs"},
		"sandbox dies": {"sss", func(b *bench) {
			b.engineFails()
			b.environment.execute = func(_ context.Context, t int, _ relabel.Message) error {
				if t == 2 {
					return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
				}
				return nil
			}
		}, relabel.FailEnvironment, "the container is gone"},
		"verifier's container": {"sss", func(b *bench) { b.environment.verdict.Infra = "disk full" }, relabel.FailVerifier, "disk full"},
		"verifier fails": {"sss", func(b *bench) {
			b.environment.verifyErr = relabel.Errorf(relabel.CodeEnvironment, "no engine")
		}, relabel.FailVerifier, "no engine"},
		"a bug in the scaffold": {"sss", func(b *bench) {
			b.environment.execute = func(context.Context, int, relabel.Message) error { panic("boom") }
		}, relabel.FailInternal, "a bug in the rollout; details are in the log"},
		"a bug in labelling": {"sss", func(b *bench) {
			b.environment.teacher = func(context.Context, relabel.ChatRequest) (relabel.Completion, error) { panic("boom") }
		}, relabel.FailInternal, "a bug in labelling; details are in the log"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(c.executors, 100)
				c.edit(b)
				if err := b.roll(t.Context()); err != nil {
					t.Fatal(err)
				}
				if b.store.state != relabel.Failed || b.store.failure != c.reason || b.store.detail != c.detail {
					t.Errorf("%s: %s, %q; want %s, %q", b.store.state, b.store.failure, b.store.detail, c.reason, c.detail)
				}
				if b.store.verdict != nil || strings.Contains(b.store.detail, "hidden") {
					t.Errorf("verdict %v, detail %q", b.store.verdict, b.store.detail)
				}
				if p := b.problems(); len(p) > 0 {
					t.Error(p)
				}
			})
		})
	}
}

// A store that does not answer fails nothing: the trajectory goes back, and the next
// attempt takes it to its end.
func TestTrajectoryIsGivenBackWhenTheStoreDoesNotAnswer(t *testing.T) {
	unavailable := func(context.Context) error {
		return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
	}
	hangs := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for _, op := range []string{"SetSandbox", "CommitTurn", "SettleLabel", "EndRollout", "BeginVerifying", "Finish"} {
		t.Run(op, func(t *testing.T) { givenBack(t, op, unavailable) })
		t.Run(op+" hangs", func(t *testing.T) { givenBack(t, op, hangs) })
	}
}

func givenBack(t *testing.T, op string, trouble func(context.Context) error) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.teacher = talks(relabel.Teacher, 3, 1)
		away := true
		b.store.before = func(ctx context.Context, now string) error {
			if now == op && away {
				return trouble(ctx)
			}
			return nil
		}
		if err := b.roll(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable || b.store.state != relabel.Queued {
			t.Errorf("error %v, state %s", err, b.store.state)
		}
		away = false
		rollToDone(t, b)
		if b.store.attempt != 2 || len(b.turns()) != 3 {
			t.Errorf("attempt %d with %d turns", b.store.attempt, len(b.turns()))
		}
	})
}

// What was executed commits once its call is recorded, and not if it could not be.
func TestATurnWhoseCallCouldNotBeRecordedDoesNotCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("TT", 2)
		may, away, says := make(chan struct{}), true, b.environment.teacher
		b.environment.teacher = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			if !req.Beside {
				t.Error("the rollout waits for a record")
			}
			done, err := says(ctx, req)
			done.Recorded = func() error {
				<-may
				if away && req.T == 2 {
					return relabel.Errorf(relabel.CodeUnavailable, "the call could not be recorded")
				}
				return nil
			}
			return done, err
		}
		over := make(chan error)
		go func() { over <- b.roll(t.Context()) }()
		synctest.Wait()
		if n := len(b.turns()); n != 0 {
			t.Errorf("%d turns are committed before their calls are recorded", n)
		}
		close(may)
		if err := <-over; relabel.CodeOf(err) != relabel.CodeUnavailable || b.store.state != relabel.Queued || len(b.turns()) != 1 {
			t.Errorf("error %v, state %s, %d turns", err, b.store.state, len(b.turns()))
		}
		away = false
		rollToDone(t, b)
	})
}

// The label may have been received; it must not be called missing for the store's trouble.
func TestLabelWhoseCallCouldNotBeRecordedIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ss", 2)
		b.environment.teacher = func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
			return relabel.Completion{}, relabel.Errorf(relabel.CodeUnavailable, "the call could not be recorded")
		}
		if err := b.roll(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable || b.store.state != relabel.Queued {
			t.Errorf("error %v, state %s", err, b.store.state)
		}
		b.environment.teacher = talks(relabel.Teacher, 2, 0)
		rollToDone(t, b)
		for _, turn := range b.turns() {
			if turn.Label.Status != relabel.Received {
				t.Errorf("label %+v", turn.Label)
			}
		}
	})
}

// A failure is recorded at once: labels that are still asked for are dropped, and none of
// their calls outlives the rollout.
func TestFailureLetsGoOfLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		b.environment.student = talks(relabel.Student, 100, time.Second)
		var inFlight atomic.Int32
		b.environment.teacher = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			inFlight.Add(1)
			err := sleep(ctx, time.Hour)
			time.Sleep(time.Second) // it takes its time to give up
			inFlight.Add(-1)
			return relabel.Completion{}, err
		}
		b.engineFails()
		b.environment.execute = func(_ context.Context, t int, _ relabel.Message) error {
			if t == 3 {
				return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
			}
			return nil
		}
		start := time.Now()
		if err := b.roll(t.Context()); err != nil || b.store.state != relabel.Failed {
			t.Errorf("%v, %s", err, b.store.state)
		}
		if took := time.Since(start); took != 4*time.Second || inFlight.Load() != 0 {
			t.Errorf("failed after %s with %d labels in flight", took, inFlight.Load())
		}
	})
}
