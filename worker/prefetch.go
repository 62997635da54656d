package worker

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	prefetchPeriod = 5 * time.Second // between two looks at which images are needed next
	prefetchRetry  = 5 * time.Minute // until the next pull of an image that failed
)

// PrefetchConfig is what a Prefetch needs.
type PrefetchConfig struct {
	Trajectories int // queued trajectories whose images are pulled
	// NextImages returns the images of the next n queued trajectories.
	NextImages func(ctx context.Context, n int) ([]string, error)
	// Pull makes an image present on an engine.
	Pull func(ctx context.Context, image string) error
	// Idle reports whether nothing is pulled now: the process drains or lacks capacity.
	Idle func(ctx context.Context) bool
	Log  zerolog.Logger
}

// Prefetch pulls the images that queued trajectories will need.
type Prefetch struct {
	PrefetchConfig
	periodic
	pulls sync.WaitGroup

	mu   sync.Mutex
	seen map[string]time.Time // needed images that were pulled; those that failed with the time of the next try
}

// NewPrefetch returns a Prefetch.
func NewPrefetch(c PrefetchConfig) (*Prefetch, error) {
	p := &Prefetch{PrefetchConfig: c, seen: map[string]time.Time{}}
	p.periodic = periodic{Task: Task{Period: prefetchPeriod, Run: p.RunNow, Failure: "cannot prefetch images", Log: c.Log}}
	return p, require("prefetch", requirement{"Trajectories", c.Trajectories > 0}, requirement{"NextImages", c.NextImages != nil},
		requirement{"Pull", c.Pull != nil}, requirement{"Idle", c.Idle != nil})
}

// Stop ends the service and waits for its pulls.
func (p *Prefetch) Stop() {
	p.periodic.Stop()
	p.pulls.Wait()
}

// RunNow begins to pull the images that are needed next. Pulls end with ctx.
func (p *Prefetch) RunNow(ctx context.Context) error {
	if p.Idle(ctx) {
		return nil
	}
	images, err := p.NextImages(ctx, p.Trajectories)
	if err != nil {
		return err
	}
	for _, image := range p.due(images) {
		p.pulls.Go(func() { p.pull(ctx, image) })
	}
	return nil
}

func (p *Prefetch) pull(ctx context.Context, image string) {
	err := p.Pull(ctx, image)
	if err == nil || ctx.Err() != nil {
		return
	}
	p.Log.Warn().Err(err).Str("image", image).Msg("cannot prefetch image")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[image] = time.Now().Add(prefetchRetry)
}

// due returns the images to pull now and forgets those that are no longer needed.
func (p *Prefetch) due(images []string) (due []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]time.Time{}
	for _, image := range images {
		retryAt, known := p.seen[image]
		if !known || !retryAt.IsZero() && time.Now().After(retryAt) {
			due, retryAt = append(due, image), time.Time{}
		}
		seen[image] = retryAt
	}
	p.seen = seen
	return due
}
