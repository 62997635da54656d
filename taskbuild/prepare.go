package taskbuild

import (
	"context"

	"relabel"
)

// Prepare makes the image of a candidate without running its tests, and returns the task to run in it; or why
// the image cannot be made. A source may call it while Build iterates. Build removes the image at its end.
func (b *Builder) Prepare(ctx context.Context, c Candidate) (relabel.Task, *Refusal, error) {
	t, err := b.newTrial(ctx, c)
	if err != nil {
		return relabel.Task{}, nil, err
	}
	labels, err := b.engine.Labels(ctx, LabelKey, []string{t.line.Image})
	if err != nil || labels[t.line.Image] == t.key {
		return t.line.task(), nil, err
	}
	refusal, err := b.images.make(ctx, t)
	return t.line.task(), refusal, err
}
