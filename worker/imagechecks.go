package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

const (
	imageCheckPeriod  = 2 * time.Second
	imageChecksAtOnce = 8
	imageCheckTime    = 2 * time.Minute // a check of another worker is repeated after this time
)

// ImageCheckStore stores requests for checks of images, and their results.
type ImageCheckStore interface {
	ClaimImageChecks(ctx context.Context, n int, reserve time.Duration) (images []string, err error)
	FinishImageCheck(ctx context.Context, image string, f relabel.ImageFacts) error
}

// ImageChecks checks the images that users asked for. Describe returns the facts of an image; an error is
// stored as ImageUnknown. Ready reports whether an engine is available.
type ImageChecks struct {
	Store    ImageCheckStore
	Describe func(ctx context.Context, image string) (relabel.ImageFacts, error)
	Ready    func() bool
	Log      zerolog.Logger
}

// Service returns the checks as a service.
func (c ImageChecks) Service() Service {
	return Task{Period: imageCheckPeriod, Run: c.RunNow, Failure: "cannot check images", Log: c.Log}.Service()
}

// RunNow checks images until no check is pending.
func (c ImageChecks) RunNow(ctx context.Context) error {
	for c.Ready() && ctx.Err() == nil {
		images, err := c.Store.ClaimImageChecks(ctx, imageChecksAtOnce, imageCheckTime)
		if err != nil || len(images) == 0 {
			return err
		}
		errs := make([]error, len(images))
		var all sync.WaitGroup
		for i, image := range images {
			all.Go(func() { errs[i] = c.check(ctx, image) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// check checks one image. A check that ctx ends stores nothing, so that another worker repeats it.
func (c ImageChecks) check(ctx context.Context, image string) error {
	limited, cancel := context.WithTimeout(ctx, imageCheckTime)
	defer cancel()
	facts, err := c.Describe(limited, image)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		facts = relabel.ImageFacts{State: relabel.ImageUnknown, Problem: err.Error()}
	}
	return c.Store.FinishImageCheck(ctx, image, facts)
}
