package tokenizers

import (
	"context"
	"errors"
	"slices"

	"relabel"
	"relabel/shard/render"
)

// mostCounting is the maximum number of students that a Counter caches: rarely do more
// policies approach their limits at the same time.
const mostCounting = 4

// countingDate is the day that templates are told: prompts of any day have as many tokens.
const countingDate = "2026-01-01"

// Counter counts the tokens of prompts. It is safe for concurrent use.
type Counter struct {
	opener *Opener
	// turn holds the kept students, the one used last first; who has them may open another.
	turn chan []counting
}

// counting is a cached student, or the error of opening it.
type counting struct {
	hash, template string
	student        *render.Student
	refused        error
}

// NewCounter returns a Counter that uses o's tokenizers.
func NewCounter(o *Opener) *Counter {
	c := &Counter{opener: o, turn: make(chan []counting, 1)}
	c.turn <- nil
	return c
}

// Count counts the tokens of a state, as it is sent, as the prompt of a policy: rendered with
// the policy's chat template and tools, and the header of the turn to come. CodeInvalid says
// why that cannot be: the policy's tokenizer or template is none, or is a path, which another
// machine may lack; or the template refuses. Other errors are the store's or the end of ctx.
func (c *Counter) Count(ctx context.Context, p relabel.Policy, state []relabel.Message, tools []relabel.Tool) (int, error) {
	switch {
	case p.TokenizerRef().None():
		return 0, relabel.Errorf(relabel.CodeInvalid, "the policy has no tokenizer")
	case p.TokenizerHash == "" || p.ChatTemplate != "":
		return 0, relabel.Errorf(relabel.CodeInvalid, "the policy's tokenizer or chat template is a path, and not registered")
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
func (c *Counter) student(ctx context.Context, p relabel.Policy) (*render.Student, error) {
	var kept []counting
	select {
	case kept = <-c.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { c.turn <- kept }()
	at := slices.IndexFunc(kept, func(k counting) bool { return k.hash == p.TokenizerHash && k.template == p.TemplateText })
	if at >= 0 {
		found := kept[at]
		kept = slices.Insert(slices.Delete(kept, at, at+1), 0, found)
		return found.student, found.refused
	}
	_, student, err := c.opener.Student(ctx, relabel.ExportForm{Tokenizer: p.Tokenizer, TokenizerHash: p.TokenizerHash, TemplateText: p.TemplateText, Date: countingDate})
	if err != nil && relabel.CodeOf(err) != relabel.CodeInvalid {
		return nil, err // may be temporary
	}
	kept = slices.Insert(kept, 0, counting{p.TokenizerHash, p.TemplateText, student, err})
	kept = kept[:min(len(kept), mostCounting)]
	return student, err
}
