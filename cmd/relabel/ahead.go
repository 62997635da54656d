package main

import (
	"context"
	"sync"
	"time"
)

const (
	imagesPeriod = 5 * time.Second // between looks at which images are needed next
	tidyPeriod   = time.Minute     // between looks at how much images take
	pullAgain    = 5 * time.Minute // until an image that was not to be had is tried ahead again
)

// ahead pulls the images that queued trajectories will need, and removes what was pulled
// and is over the budget.
type ahead struct {
	work *work
	n    int // trajectories to look ahead

	mu   sync.Mutex
	seen map[string]time.Time // images that are pulled or there: when to look again; zero: while they are needed
}

// imagesLoop keeps the images of the next trajectories at hand until ctx ends.
func (w *work) imagesLoop(ctx context.Context, n int) {
	a := &ahead{work: w, n: n, seen: map[string]time.Time{}}
	tick, tidy := time.NewTicker(imagesPeriod), time.NewTicker(tidyPeriod)
	defer tick.Stop()
	defer tidy.Stop()
	var pulls sync.WaitGroup
	defer pulls.Wait()
	for {
		a.pull(ctx, &pulls)
		select {
		case <-ctx.Done():
			return
		case <-tidy.C:
			if err := w.host.Tidy(ctx); err != nil && ctx.Err() == nil {
				w.log.Warn().Err(err).Msg("images that were pulled could not be removed to make room")
			}
		case <-tick.C:
		}
	}
}

// pull begins to pull what is needed next and not seen to yet.
func (a *ahead) pull(ctx context.Context, pulls *sync.WaitGroup) {
	if a.work.draining.Load() || a.work.room.check(ctx) != nil {
		return
	}
	images, err := a.work.db.NextImages(ctx, a.n)
	if err != nil {
		return // the database's trouble is told by the look for abandoned trajectories
	}
	for _, image := range a.due(images) {
		pulls.Go(func() {
			if err := a.work.host.EnsureImage(ctx, image); err != nil && ctx.Err() == nil {
				a.work.log.Warn().Err(err).Str("image", image).Msg("an image that is needed soon is not to be had")
				a.mu.Lock()
				a.seen[image] = time.Now().Add(pullAgain)
				a.mu.Unlock()
			}
		})
	}
}

// due returns the images that are to be seen to now, and forgets those that are not needed.
func (a *ahead) due(images []string) (due []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := map[string]time.Time{}
	for _, image := range images {
		again, known := a.seen[image]
		if !known || !again.IsZero() && time.Now().After(again) {
			due, again = append(due, image), time.Time{}
		}
		seen[image] = again
	}
	a.seen = seen
	return due
}
