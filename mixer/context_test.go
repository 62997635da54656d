package mixer

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"relabel"
)

// counts lets the policies' tokenizer count the state of turn t as 100·t tokens, and the
// student's server too.
func counts(b *bench) {
	answer := b.environment.student
	b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		done, err := answer(ctx, req)
		done.Usage = &relabel.Usage{PromptTokens: 100 * req.T}
		return done, err
	}
	b.mixer.environment.Count = func(_ context.Context, _ relabel.Policy, state []relabel.Message, _ []relabel.Tool) (int, error) {
		turns := 0
		for _, m := range state {
			if m.Role == relabel.RoleAssistant {
				turns++
			}
		}
		return 100 * (turns + 1), nil
	}
}

func TestAPromptThatDoesNotFitIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		run, student, turns int
		room                int // of the last turn's answer
	}{
		"one token of answer fits":             {301, 0, 3, 1},
		"none does":                            {300, 0, 2, 100},
		"the student's context is less":        {1000, 301, 3, 1},
		"and it has no room for a token":       {1000, 300, 2, 100},
		"the run's is less than the student's": {201, 1000, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("ssss", 4)
				counts(b)
				b.store.claim.Run.Limits.MaxContextTokens, b.store.claim.Student.Limits.ContextTokens = c.run, c.student
				b.store.claim.Student.Sampling.MaxTokens = 500
				rollToDone(t, b)
				wantEnd(t, b, relabel.EndContext, c.turns)
				asked := b.environment.callsOf(relabel.Student)
				if len(asked) != c.turns || asked[c.turns-1].req.Sampling.MaxTokens != c.room || asked[c.turns-1].req.Size.By != relabel.SizeByTokenizer {
					t.Errorf("%d calls, the last with %+v of %+v", len(asked), asked[len(asked)-1].req.Sampling, asked[len(asked)-1].req.Size)
				}
			})
		})
	}
}

func TestALabelWhosePromptDoesNotFitTheTeacherIsMissingAndTheRolloutGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssss", 4)
		counts(b)
		b.store.claim.Teacher.Limits.ContextTokens = 201 // two states fit
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndFinish, 4)
		for i, turn := range b.turns() {
			want := relabel.Received
			if i >= 2 {
				want = relabel.Missing
			}
			if turn.Label.Status != want || want == relabel.Missing && turn.Label.Reason != string(relabel.CodeContextOverflow) {
				t.Errorf("turn %d: %s %q", i+1, turn.Label.Status, turn.Label.Reason)
			}
		}
		if n := len(b.environment.callsOf(relabel.Teacher)); n != 2 {
			t.Errorf("%d labels were asked for", n)
		}
	})
}

func TestAReplayComesToTheSameContextEnd(t *testing.T) {
	for _, counted := range []bool{false, true} {
		plain, replayed := contextEnd(t, counted, nil), contextEnd(t, counted, func(b *bench) {
			answer, broken := b.environment.student, false
			b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
				done, err := answer(ctx, req)
				if req.T == 3 && !broken {
					broken = true
					return done, relabel.Errorf(relabel.CodeUnavailable, "the call could not be recorded")
				}
				return done, err
			}
		})
		if plain != replayed || plain == 0 {
			t.Errorf("counted %v: %d turns, and %d after a replay", counted, plain, replayed)
		}
	}
}

func TestAPromptThatCannotBeCountedNowIsCountedByTheNextAttempt(t *testing.T) {
	plain, replayed := contextEnd(t, true, nil), contextEnd(t, true, func(b *bench) {
		count, asked := b.mixer.environment.Count, atomic.Int64{}
		b.mixer.environment.Count = func(ctx context.Context, p relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
			n, err := count(ctx, p, state, tools)
			if n >= 300 && asked.Add(1) <= 2 { // by the student and the teacher
				return 0, relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
			}
			return n, err
		}
	})
	if plain != replayed || plain == 0 {
		t.Errorf("%d turns, and %d after the store was broken", plain, replayed)
	}
}

// contextEnd is after how many turns a rollout ends whose context is 450 tokens, with its
// parts changed.
func contextEnd(t *testing.T, counted bool, change func(*bench)) (turns int) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssssss", 6)
		counts(b)
		if !counted {
			b.mixer.environment.Count = nil
		}
		b.store.claim.Run.Limits.MaxContextTokens, b.store.claim.Teacher.Limits.ContextTokens = 450, 450
		if change != nil {
			change(b)
		}
		for b.store.state != relabel.Done {
			_ = b.roll(context.Background())
		}
		wantEnd(t, b, relabel.EndContext, len(b.turns()))
		turns = len(b.turns())
		for _, turn := range b.turns() {
			if turn.Label.Status != relabel.Received {
				t.Errorf("turn %d: its label is %s %q", turn.T, turn.Label.Status, turn.Label.Reason)
			}
		}
	})
	return turns
}

func TestNoLabelIsAskedForWhereTheExecutorsPromptDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("ssss", 4)
		b.store.claim.Student.Limits.ContextTokens = 1
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndContext, 0)
		if n := len(b.environment.callsOf(relabel.Teacher)); n != 0 {
			t.Errorf("%d labels were asked for", n)
		}
	})
}

func TestAnActionThatFillsItsExecutorsContextEndsTheRollout(t *testing.T) {
	for name, usage := range map[string]*relabel.Usage{
		"as its server counts": {PromptTokens: 2400, CompletionTokens: 600},
		"as estimated":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("s", 9)
				b.store.claim.Student.Limits.ContextTokens = 3000
				answer := b.environment.student
				b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
					done, err := answer(ctx, req)
					done.Usage = usage
					if usage == nil {
						done.Message.Content = strings.Repeat("word ", 3000)
					}
					return done, err
				}
				rollToDone(t, b)
				wantEnd(t, b, relabel.EndContext, 1)
			})
		})
	}
}
