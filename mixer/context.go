package mixer

import (
	"relabel"
	"relabel/chat"
)

// actLimit bounds prompt and answer of an executor by the smallest of the run's limit, the first prompt
// and the run's limit of what follows it, and the policy's own.
func (r *rollout) actLimit(p relabel.Policy) chat.PromptLimit {
	limit := r.claim.Run.Limits.MaxContextTokens
	if response := r.claim.Run.Limits.MaxResponseTokens; response > 0 {
		limit = min(limit, r.prompt+response)
	}
	if own := p.Limits.ContextTokens; own > 0 {
		limit = min(limit, own)
	}
	return chat.PromptLimit{Policy: p, Tokens: limit, Count: r.environment.Count}
}

// labelLimit bounds prompt and answer of a label by the teacher's own context.
func (r *rollout) labelLimit() chat.PromptLimit {
	teacher := r.claim.Teacher
	return chat.PromptLimit{Policy: teacher, Tokens: teacher.Limits.ContextTokens, Count: r.environment.Count}
}
