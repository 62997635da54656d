package mixer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// watched is a bench whose mixer logs and is observed.
func watched(executors string, last int, log *bytes.Buffer, observe Observe) *bench {
	b := newBench(executors, last)
	b.mixer = New(Config{Store: b.store, Environment: b.environment.environment(), Owner: "worker", Log: zerolog.New(zerolog.SyncWriter(log)).With().Str("worker", "worker").Logger(), Observe: observe})
	return b
}

// answers is a policy whose answered request takes took, after a wait for a place.
func answers(who relabel.Role, last int, wait, took time.Duration) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	talk := talks(who, last, wait+took)
	return func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		c, err := talk(ctx, req)
		c.Took = took
		return c, err
	}
}

// By the bubble's clock: two turns of the student (1 s and 0.3 s of waiting) and one of
// the teacher (3 s), 0.5 s in the sandbox each, and labels of 5 s.
func TestWhereTheTimeWentSumsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns []relabel.Turn
		var ended []relabel.TimeSpent
		b := watched("sTs", 3, &bytes.Buffer{}, Observe{
			Committed: func(_ relabel.Claim, turn relabel.Turn, _ time.Duration) { turns = append(turns, turn) },
			Ended:     func(e AttemptEnd) { ended = append(ended, e.Spent) },
		})
		b.environment.student = answers(relabel.Student, 3, 300*time.Millisecond, time.Second)
		b.environment.teacher = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
			if req.Purpose == relabel.PurposeLabel {
				return answers(relabel.Teacher, 3, 0, 5*time.Second)(ctx, req)
			}
			return answers(relabel.Teacher, 3, 0, 3*time.Second)(ctx, req)
		}
		b.environment.executeTime = 500 * time.Millisecond
		delay := map[string]time.Duration{"Start": 7 * time.Second, "CommitTurn": 10 * time.Millisecond, "Patch": 40 * time.Millisecond, "Verify": 9 * time.Second}
		b.environment.before = func(ctx context.Context, op string) error { return sleep(ctx, delay[op]) }
		b.store.before = b.environment.before
		begun := time.Now()
		if err := b.roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The last label is asked for 1.8 + 3.5 s and two commits after the start, and comes 5 s later.
		want := relabel.TimeSpent{Start: 7000, Endpoint: 600, Model: 5000, Sandbox: 1500, Database: 30, End: 40, Labels: 5000 - 1800 - 10 - 40, Verify: 9000}
		if len(ended) != 1 || ended[0] != want {
			t.Errorf("got %+v, want %+v", ended, want)
		}
		if sum := total(ended[0]); sum != time.Since(begun).Milliseconds() {
			t.Errorf("the parts sum up to %d ms of %s", sum, time.Since(begun))
		}
		if len(b.store.spent) != 1 || b.store.spent[0] != want {
			t.Errorf("stored is %+v", b.store.spent)
		}
		for i, w := range []relabel.TurnTime{{Endpoint: 300, Sandbox: 500}, {Sandbox: 500, Database: 10}, {Endpoint: 300, Sandbox: 500, Database: 10}} {
			if turns[i].Time != w {
				t.Errorf("turn %d: %+v, want %+v", i+1, turns[i].Time, w)
			}
		}
		if turns[0].Action.Millis != 1000 || turns[1].Action.Millis != 3000 || b.turns()[0].Label.Millis != 5000 {
			t.Errorf("requests took %d and %d ms, a label's %d", turns[0].Action.Millis, turns[1].Action.Millis, b.turns()[0].Label.Millis)
		}
	})
}

func total(s relabel.TimeSpent) (sum int64) {
	for _, ms := range s.Parts() {
		sum += ms
	}
	return sum
}

func TestActivitySaysWhatEachTrajectoryDoesNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := watched("ss", 2, &bytes.Buffer{}, Observe{})
		b.environment.student = answers(relabel.Student, 2, 0, time.Second)
		b.environment.executeTime = 3 * time.Second
		b.environment.teacher = answers(relabel.Teacher, 2, 0, 20*time.Second)
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		for _, want := range []relabel.RolloutActivity{ // every two seconds, from half a second on
			{Turn: 1, Phase: relabel.PhaseStudent, PhaseMillis: 500, LabelsAsked: 1},
			{Turn: 1, Phase: relabel.PhaseSandbox, PhaseMillis: 1500, LabelsAsked: 1},
			{Turn: 2, Phase: relabel.PhaseStudent, PhaseMillis: 500, LabelsAsked: 2},
			{Turn: 2, Phase: relabel.PhaseSandbox, PhaseMillis: 1500, LabelsAsked: 2},
			{Turn: 2, Phase: relabel.PhaseLabels, PhaseMillis: 500, LabelsAsked: 2},
		} {
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			want.TrajectoryID, want.RunID = b.store.claim.Trajectory.ID, b.store.claim.Run.ID
			want.InstanceID, want.Attempt = "task-1", 1
			if got := b.mixer.Activity(); len(got) != 1 || got[0] != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			time.Sleep(1500 * time.Millisecond)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if left := b.mixer.Activity(); len(left) != 0 {
			t.Errorf("it is over, and does %+v", left)
		}
	})
}

// Whatever becomes of a rollout, and whatever a policy or a sandbox says of it.
func TestEachLineOfARolloutNamesTrajectoryAttemptTurnAndWorker(t *testing.T) {
	broken := relabel.Errorf(relabel.CodeEnvironment, "the sandbox is gone").Because(context.DeadlineExceeded)
	for name, c := range map[string]struct {
		change func(b *bench)
		turn   float64 // of the last line
		says   string
	}{
		"done":             {func(*bench) {}, 3, `"passed":true`},
		"a policy's error": {func(b *bench) { b.environment.student = fails("the endpoint said no") }, 2, "the endpoint said no"},
		"a sandbox's error": {func(b *bench) {
			b.environment.execute = func(_ context.Context, t int, _ relabel.Message) error { return at(t, 3, broken) }
		}, 3, "the sandbox is gone"},
		"no sandbox": {func(b *bench) { b.environment.startErr = broken }, 0, "the sandbox is gone"},
		"a panicking policy": {func(b *bench) {
			b.environment.student = func(context.Context, relabel.ChatRequest) (relabel.Completion, error) { panic("boom") }
		}, 2, "boom"},
		"a panicking label":  {func(b *bench) { b.environment.teacher = panicsAtLabels(b.environment.teacher) }, 3, "boom"},
		"a verifier's error": {func(b *bench) { b.environment.verifyErr = broken }, 3, "the sandbox is gone"},
		"it was taken over":  {func(b *bench) { b.environment.after = func(_ context.Context, op string) error { return taken(b, op) } }, 2, "lease lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				b := watched("Tss", 3, &log, Observe{})
				c.change(b)
				_ = b.roll(t.Context()) // its outcome is others' to test
				var line map[string]any
				lines := 0
				for in := bufio.NewScanner(&log); in.Scan(); lines++ {
					line = nil
					if err := json.Unmarshal(in.Bytes(), &line); err != nil {
						t.Fatal(err)
					}
					if n := strings.Count(in.Text(), `"turn":`); line["trajectory"] != b.store.claim.Trajectory.ID.String() || line["attempt"] != 1.0 || n != 1 || line["worker"] != "worker" {
						t.Errorf("a line lacks who it is about: %s", in.Text())
					}
					if strings.Contains(in.Text(), c.says) {
						c.says = ""
					}
				}
				if lines < 2 || line["turn"] != c.turn || c.says != "" {
					t.Errorf("%d lines, the last of turn %v, want %v; not said: %s", lines, line["turn"], c.turn, c.says)
				}
			})
		})
	}
}

func fails(why string) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
		return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "%s", why)
	}
}

func at(t, which int, err error) error {
	if t == which {
		return err
	}
	return nil
}

func panicsAtLabels(next func(context.Context, relabel.ChatRequest) (relabel.Completion, error)) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	return func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		if req.Purpose == relabel.PurposeLabel {
			panic("boom")
		}
		return next(ctx, req)
	}
}

// taken takes the trajectory over when the student has answered at turn 2.
func taken(b *bench, op string) error {
	if op == "student/act" {
		b.store.takenOver()
	}
	return nil
}
