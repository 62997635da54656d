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
	// MakeRoom reports whether an image fits on its engine beside those that are needed before it, and
	// removes others to make room.
	MakeRoom func(ctx context.Context, image string, before []string) (fits bool, err error)
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
		requirement{"MakeRoom", c.MakeRoom != nil}, requirement{"Pull", c.Pull != nil}, requirement{"Idle", c.Idle != nil})
}

// Stop ends the service and waits for its pulls.
func (p *Prefetch) Stop() {
	p.periodic.Stop()
	p.pulls.Wait()
}

// RunNow begins to pull the images that are needed next, in the order of need, and stops at the first one
// that does not fit. Pulls end with ctx.
func (p *Prefetch) RunNow(ctx context.Context) error {
	if p.Idle(ctx) {
		return nil
	}
	images, err := p.NextImages(ctx, p.Trajectories)
	if err != nil {
		return err
	}
	due := p.due(images)
	for i, image := range images {
		if !due[image] {
			continue
		}
		fits, err := p.MakeRoom(ctx, image, images[:i])
		if err != nil || !fits {
			p.forget(images[i:], due)
			return err
		}
		p.pulls.Go(func() { p.pull(ctx, image) })
	}
	return nil
}

// forget makes the due images of a list due again.
func (p *Prefetch) forget(images []string, due map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, image := range images {
		if due[image] {
			delete(p.seen, image)
		}
	}
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
func (p *Prefetch) due(images []string) map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due, seen := map[string]bool{}, map[string]time.Time{}
	for _, image := range images {
		retryAt, known := p.seen[image]
		if !known || !retryAt.IsZero() && time.Now().After(retryAt) {
			due[image], retryAt = true, time.Time{}
		}
		seen[image] = retryAt
	}
	p.seen = seen
	return due
}
