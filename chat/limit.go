package chat

import (
	"context"

	"relabel"
)

// CountPrompt counts the tokens of a state as a policy's prompt, with the policy's tokenizer and chat
// template. CodeInvalid tells why that is impossible; other errors are the store's or ctx's. It depends
// only on its arguments and is safe for concurrent use.
type CountPrompt func(ctx context.Context, p relabel.Policy, state []relabel.Message, tools []relabel.Tool) (tokens int, err error)

// PromptLimit bounds a policy's prompt and answer together.
type PromptLimit struct {
	Policy relabel.Policy
	Tokens int         // 0: unknown
	Count  CountPrompt // nil: prompts are estimated
}

// Fit sets the prompt's size in the request and limits the answer to the remaining tokens. It fails with
// CodeContextOverflow if none remains: do not send such a request. Other errors are those of Count that
// are not CodeInvalid.
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
	// The server limits an answer without a limit, unless the prompt was counted: servers refuse a limit
	// that is too large by one token, and an estimate may be.
	if n := req.Sampling.MaxTokens; n > room || n == 0 && size.By == relabel.SizeByTokenizer && l.Policy.Limits.ContextTokens > 0 {
		req.Sampling.MaxTokens = room
	}
	return req, nil
}

// measure counts a prompt that may be near the limit, and estimates others.
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

// near reports whether the prompt may have more than four fifths of the limit's tokens, or the requested
// answer may not fit after it.
func (l PromptLimit) near(req relabel.ChatRequest, estimate PromptEstimate) bool {
	return l.Tokens > 0 && (estimate.Most > l.Tokens/5*4 || estimate.Most+req.Sampling.MaxTokens > l.Tokens)
}
