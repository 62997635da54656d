package mixer

import "relabel"

// contextLimit is how many tokens prompt and answer of an executor may have together: the
// run's limit, or the policy's own where that is less.
func (r *rollout) contextLimit(p relabel.Policy) int {
	limit := r.claim.Run.Limits.MaxContextTokens
	if own := p.Limits.ContextTokens; own > 0 {
		limit = min(limit, own)
	}
	return limit
}

// sizeOf is the size of the state as a policy's prompt: counted where its tokenizer is
// known, else estimated.
func (r *rollout) sizeOf(role relabel.Role, p relabel.Policy, sizes *relabel.PromptSizes, state []relabel.Message) relabel.PromptSize {
	if r.world.Count != nil {
		if n, ok := r.world.Count(p, state, r.claim.Run.Prompts.Tools); ok {
			return relabel.PromptSize{Tokens: n, By: relabel.SizeByTokenizer}
		}
	}
	return sizes.Of(role)
}

// fit notes the prompt's size in the request and caps the answer by what the limit leaves.
// It fails with CodeContextOverflow where the prompt leaves no room for one token.
func fit(req relabel.ChatRequest, size relabel.PromptSize, limit int, p relabel.Policy) (relabel.ChatRequest, error) {
	req.Size = &size
	room, known := size.Room(limit)
	switch {
	case !known:
		return req, nil
	case room < 1:
		return req, relabel.Errorf(relabel.CodeContextOverflow, "%s: the prompt has %d tokens (by %s), and the context %d", p.Name, size.Tokens, size.By, limit)
	case req.Sampling.MaxTokens > 0 || p.Limits.ContextTokens > 0: // what is left to the server it bounds itself, unless its context is known
		if req.Sampling.MaxTokens == 0 || req.Sampling.MaxTokens > room {
			req.Sampling.MaxTokens = room
		}
	}
	return req, nil
}
