package chat

import (
	"context"
	"testing"

	"relabel"
)

func TestAPromptIsCountedOnlyNearItsLimit(t *testing.T) {
	far := PromptEstimate{relabel.PromptSize{Tokens: 300, By: relabel.SizeByUsage}, 800}
	near := PromptEstimate{relabel.PromptSize{Tokens: 300, By: relabel.SizeByUsage}, 801}
	for name, c := range map[string]struct {
		estimate                PromptEstimate
		limit, context, answer  int
		counted                 int
		refusal                 error
		size                    relabel.PromptSize
		room                    int
		overflow, storeIsBroken bool
	}{
		"far from it":                              {estimate: far, limit: 1000, answer: 200, counted: 999, size: far.PromptSize, room: 200},
		"the bound is above four fifths":           {estimate: near, limit: 1000, answer: 100, counted: 950, size: relabel.PromptSize{Tokens: 950, By: relabel.SizeByTokenizer}, room: 50},
		"the answer may not fit":                   {estimate: far, limit: 1000, answer: 201, counted: 900, size: relabel.PromptSize{Tokens: 900, By: relabel.SizeByTokenizer}, room: 100},
		"it does not fit, though the estimate did": {estimate: near, limit: 1000, counted: 1000, overflow: true, size: relabel.PromptSize{Tokens: 1000, By: relabel.SizeByTokenizer}},
		"no limit":             {estimate: near, answer: 7, counted: 1000, size: near.PromptSize, room: 7},
		"the template refuses": {estimate: near, limit: 1000, answer: 900, refusal: relabel.Errorf(relabel.CodeInvalid, "no"), size: relabel.PromptSize{Tokens: 300, By: relabel.SizeByUsage, NotCounted: "no"}, room: 700},
		"the store is broken":  {estimate: near, limit: 1000, refusal: relabel.Errorf(relabel.CodeUnavailable, "no"), storeIsBroken: true},
		"an estimate bounds no answer that has none":    {estimate: far, limit: 1000, context: 1000, size: far.PromptSize},
		"a count bounds it where the context is known":  {estimate: near, limit: 1000, context: 1000, counted: 400, size: relabel.PromptSize{Tokens: 400, By: relabel.SizeByTokenizer}, room: 600},
		"and leaves it to the server where that is not": {estimate: near, limit: 1000, counted: 400, size: relabel.PromptSize{Tokens: 400, By: relabel.SizeByTokenizer}},
	} {
		limit := PromptLimit{Policy: relabel.Policy{Limits: relabel.PolicyLimits{ContextTokens: c.context}}, Tokens: c.limit,
			Count: func(context.Context, relabel.Policy, []relabel.Message, []relabel.Tool) (int, error) {
				return c.counted, c.refusal
			}}
		got, err := limit.Fit(t.Context(), relabel.ChatRequest{Sampling: relabel.Sampling{MaxTokens: c.answer}}, c.estimate)
		switch {
		case c.storeIsBroken:
			if err != c.refusal {
				t.Errorf("%s: %v", name, err)
			}
		case c.overflow != (relabel.CodeOf(err) == relabel.CodeContextOverflow) || *got.Size != c.size:
			t.Errorf("%s: %+v, %v", name, *got.Size, err)
		case !c.overflow && (err != nil || got.Sampling.MaxTokens != c.room):
			t.Errorf("%s: an answer of %d, %v", name, got.Sampling.MaxTokens, err)
		}
	}
}
