package main

import (
	"context"
	"time"

	"relabel"
)

// activityPeriod is between two words of a worker on what it does.
const activityPeriod = 2 * time.Second

// activityLoop tells the others what this process does, for as long as it works.
func (w *work) activityLoop(ctx context.Context) {
	tick := time.NewTicker(activityPeriod)
	defer tick.Stop()
	for {
		if err := w.db.ShowActivity(ctx, w.me.Name, w.activity()); err != nil && ctx.Err() == nil {
			w.log.Warn().Err(err).Msg("the others are not told what this worker does")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// activity is what this process does right now.
func (w *work) activity() relabel.WorkerActivity {
	return relabel.WorkerActivity{Rollouts: w.mixer.Activity(), Endpoints: w.metrics.endpoints.list()}
}
