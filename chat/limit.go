package chat

import (
	"context"

	"relabel"
)

// CountPrompt counts the tokens of a state as a policy's prompt, with the policy's tokenizer
// and chat template. CodeInvalid says why they cannot; any other error is the store's, or the
// end of ctx. It depends on its arguments alone, and is safe for concurrent use.
type CountPrompt func(ctx context.Context, p relabel.Policy, state []relabel.Message, tools []relabel.Tool) (tokens int, err error)

// PromptLimit bounds a policy's prompt and answer together.
type PromptLimit struct {
	Policy relabel.Policy
	Tokens int         // 0: not known
	Count  CountPrompt // nil: prompts are estimated
}

// Fit notes the prompt's size in the request and caps its answer by what the limit leaves.
// It fails with CodeContextOverflow if the prompt leaves no room for one token: such a
// request is not to be sent. Other errors are those of Count that are not CodeInvalid.
func (l PromptLimit) Fit(ctx context.Context, req relabel.ChatRequest, estimate PromptEstimate) (relabel.ChatRequest, error) {
	size, err := l.measure(ctx, req, estimate)
	req.Size = &size
	room := l.Tokens - size.Tokens
	switch {
	case err != nil || l.Tokens == 0:
		return req, err
	case room < 1:
		return req, relabel.Errorf(relabel.CodeContextOverflow, "%s: the prompt has %d tokens (by %s), and the context %d", l.Policy.Name, size.Tokens, size.By, l.Tokens)
	}
	// An answer without a bound is the server's to bound, unless the prompt was counted: a
	// bound that an estimate makes too large by one token is refused.
	if n := req.Sampling.MaxTokens; n > room || n == 0 && size.By == relabel.SizeByTokenizer && l.Policy.Limits.ContextTokens > 0 {
		req.Sampling.MaxTokens = room
	}
	return req, nil
}

// measure counts a prompt that may be near the limit, and takes the estimate of any other.
func (l PromptLimit) measure(ctx context.Context, req relabel.ChatRequest, estimate PromptEstimate) (relabel.PromptSize, error) {
	if l.Count == nil || !l.near(req, estimate) {
		return estimate.PromptSize, nil
	}
	n, err := l.Count(ctx, l.Policy, req.Messages, req.Tools)
	if relabel.CodeOf(err) == relabel.CodeInvalid {
		size := estimate.PromptSize
		size.NotCounted = relabel.Shown(err)
		return size, nil
	}
	return relabel.PromptSize{Tokens: n, By: relabel.SizeByTokenizer}, err
}

// near reports whether the prompt may have more than four fifths of the limit's tokens, or
// the answer that is asked for may not fit after it.
func (l PromptLimit) near(req relabel.ChatRequest, estimate PromptEstimate) bool {
	return l.Tokens > 0 && (estimate.Most > l.Tokens/5*4 || estimate.Most+req.Sampling.MaxTokens > l.Tokens)
}
