package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// deletionPeriod is the time between two looks for runs whose deletion was not finished by
// the request that began it.
const deletionPeriod = 5 * time.Second

// deleteRuns finishes deletions of runs in the background until stop is called.
func deleteRuns(ctx context.Context, db *database, log zerolog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var loop sync.WaitGroup
	loop.Go(func() {
		tick := time.NewTicker(deletionPeriod)
		defer tick.Stop()
		for {
			if err := db.FinishDeletions(ctx); err != nil && ctx.Err() == nil {
				log.Error().Err(err).Msg("deleting a run failed; it is tried again")
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		cancel()
		loop.Wait()
	}
}
