package mixer

import (
	"context"

	"relabel"
)

// measurePrompt counts the first prompt with the student's tokenizer, or estimates it without one, if the
// run bounds it or what follows it. It reports whether the prompt is too long. A rollout with turns was
// not skipped, perhaps by a process that counts in another way, and is not skipped now.
func (r *rollout) measurePrompt(ctx context.Context) (tooLong bool, err error) {
	limits := r.claim.Run.Limits
	if limits.MaxPromptTokens == 0 && limits.MaxResponseTokens == 0 {
		return false, nil
	}
	if r.prompt, err = r.countPrompt(ctx); err != nil {
		return false, err
	}
	return limits.MaxPromptTokens > 0 && r.prompt > limits.MaxPromptTokens && len(r.claim.Turns) == 0, nil
}

// countPrompt returns the tokens of s1. Errors are the store's or ctx's.
func (r *rollout) countPrompt(ctx context.Context) (tokens int, err error) {
	student := r.claim.Student
	estimate := r.sizes.Of(student.ID).Tokens
	if r.environment.Count == nil {
		return estimate, nil
	}
	tokens, err = r.environment.Count(ctx, student, r.opening(), r.claim.Run.Prompts.Tools)
	if relabel.CodeOf(err) == relabel.CodeInvalid { // it has no tokenizer that can count
		return estimate, nil
	}
	return tokens, err
}
