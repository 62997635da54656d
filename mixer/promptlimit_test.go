package mixer

import (
	"testing"
	"testing/synctest"

	"relabel"
)

func TestATaskWithATooLongPromptIsSkippedWithoutAVerdict(t *testing.T) {
	for name, c := range map[string]struct{ prompt, response, turns int }{
		"it fits exactly":              {100, 0, 4},
		"one token too many":           {99, 0, 0},
		"what follows has its limit":   {0, 200, 2}, // 100 of the prompt, and 200
		"one token of answer fits":     {100, 201, 3},
		"both limits, and it does not": {99, 301, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("ssss", 4)
				counts(b)
				limits := &b.store.claim.Run.Limits
				limits.MaxContextTokens, limits.MaxPromptTokens, limits.MaxResponseTokens = 10_000, c.prompt, c.response
				rollToDone(t, b)
				switch {
				case c.turns == 0:
					wantEnd(t, b, relabel.EndPromptTooLong, 0)
				case c.response > 0:
					wantEnd(t, b, relabel.EndContext, c.turns)
				default:
					wantEnd(t, b, relabel.EndFinish, c.turns)
				}
				if calls := len(b.environment.callsOf(relabel.Student)); calls != c.turns {
					t.Errorf("%d calls", calls)
				}
			})
		})
	}
}
