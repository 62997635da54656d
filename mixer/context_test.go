package mixer

import (
	"context"
	"testing"
	"testing/synctest"

	"relabel"
)

// counts lets the policies' tokenizer count the state of turn t as 100·t tokens.
func counts(b *bench) {
	b.mixer.world.Count = func(_ relabel.Policy, state []relabel.Message, _ []relabel.Tool) (int, bool) {
		turns := 0
		for _, m := range state {
			if m.Role == relabel.RoleAssistant {
				turns++
			}
		}
		return 100 * (turns + 1), true
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
				asked := b.world.callsOf(relabel.Student)
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
			want := relabel.Had
			if i >= 2 {
				want = relabel.Missing
			}
			if turn.Label.Status != want || want == relabel.Missing && turn.Label.Reason != string(relabel.CodeContextOverflow) {
				t.Errorf("turn %d: %s %q", i+1, turn.Label.Status, turn.Label.Reason)
			}
		}
		if n := len(b.world.callsOf(relabel.Teacher)); n != 2 {
			t.Errorf("%d labels were asked for", n)
		}
	})
}

func TestAReplayComesToTheSameContextEnd(t *testing.T) {
	ends := func(interrupt bool) (turns int) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("ssssss", 6)
			answer := b.world.student
			b.world.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
				done, err := answer(ctx, req)
				done.Usage = &relabel.Usage{PromptTokens: 100 * req.T, CompletionTokens: 10}
				if interrupt && req.T == 3 {
					interrupt = false
					return done, relabel.Errorf(relabel.CodeUnavailable, "the call could not be recorded")
				}
				return done, err
			}
			b.store.claim.Run.Limits.MaxContextTokens = 450
			for b.store.state != relabel.Done {
				_ = b.roll(context.Background())
			}
			wantEnd(t, b, relabel.EndContext, len(b.turns()))
			turns = len(b.turns())
		})
		return turns
	}
	if plain, replayed := ends(false), ends(true); plain != replayed || plain == 0 {
		t.Errorf("%d turns, and %d after a replay", plain, replayed)
	}
}
