package tokenizers

import (
	"context"
	"errors"

	"relabel"
	"relabel/shard/render"
)

// mostCounting is the maximum number of students that a Counter caches: rarely do more
// policies approach their limits at the same time.
const mostCounting = 4

// countingDate is the date passed to templates: the number of tokens does not depend on it.
const countingDate = "2026-01-01"

// Counter counts the tokens of prompts. It is safe for concurrent use.
type Counter struct {
	opener *Opener
	kept   shelf[counting]
}

// counting is a cached student, or the error of opening it.
type counting struct {
	hash, template string
	student        *render.Student
	refused        error
}

// NewCounter returns a Counter that uses o's tokenizers.
func NewCounter(o *Opener) *Counter {
	return &Counter{opener: o, kept: newShelf[counting](mostCounting)}
}

// Count counts the tokens of a state as the prompt of a policy: rendered with the policy's chat
// template and tools, and the header of the next turn. CodeInvalid if that is impossible: the policy
// has no tokenizer, its tokenizer or template is a path, which other machines may lack, or the
// template refuses the state. Other errors come from the store or from ctx.
func (c *Counter) Count(ctx context.Context, p relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
	switch {
	case p.TokenizerRef().None():
		return 0, relabel.Errorf(relabel.CodeInvalid, "the policy has no tokenizer")
	case p.TokenizerHash == "" || p.ChatTemplate != "":
		return 0, relabel.Errorf(relabel.CodeInvalid, "the policy's tokenizer or chat template is a path and not registered")
	}
	student, err := c.student(ctx, p)
	if err != nil {
		return 0, err
	}
	ids, _, err := student.Converse(state, tools).Prompt()
	var refusal *render.Refusal
	if errors.As(err, &refusal) {
		return 0, relabel.Errorf(relabel.CodeInvalid, "the prompt cannot be rendered: %.300s", refusal.Error())
	}
	return len(ids), err
}

// student returns the policy's student, opening it if it is not cached.
func (c *Counter) student(ctx context.Context, p relabel.Policy) (student *render.Student, err error) {
	err = c.kept.use(ctx, func(kept *recent[counting]) error {
		if found, ok := kept.find(func(k counting) bool { return k.hash == p.TokenizerHash && k.template == p.TemplateText }); ok {
			student = found.student
			return found.refused
		}
		_, opened, err := c.opener.Student(ctx, relabel.ExportForm{Tokenizer: p.Tokenizer, TokenizerHash: p.TokenizerHash, TemplateText: p.TemplateText, Date: countingDate})
		if err == nil || relabel.CodeOf(err) == relabel.CodeInvalid { // other errors may be temporary
			kept.add(counting{p.TokenizerHash, p.TemplateText, opened, err})
		}
		student = opened
		return err
	})
	return student, err
}
