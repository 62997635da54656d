package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"relabel"
	"relabel/envs"
)

// reapLoop removes the sandboxes of dead attempts until ctx ends. It is apart from the look
// for abandoned trajectories, which must not wait for an engine that hangs at a removal.
func (w *work) reapLoop(ctx context.Context) {
	tick := time.NewTicker(recoverPeriod)
	defer tick.Stop()
	for {
		if err := w.reap(ctx); err != nil && ctx.Err() == nil {
			w.log.Error().Err(err).Msg("removing the sandboxes of dead attempts")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reap removes the sandboxes that are nobody's any more. Of most this worker knows by
// itself that they are its own; the database is asked only where there are others.
func (w *work) reap(ctx context.Context) error {
	// The engine lists sandboxes before the first is asked about: whichever was listed had
	// its trajectory claimed before the live attempts are read.
	own := sync.OnceValue(w.held)
	var unknown error
	live := sync.OnceValue(func() (attempts map[relabel.ID]int) {
		attempts, unknown = w.db.LiveAttempts(ctx)
		return attempts
	})
	removed, err := w.host.Reap(ctx, func(l envs.Labels) bool {
		return keep(l, own()) || keep(l, live()) || unknown != nil
	})
	for _, name := range removed {
		w.log.Warn().Str("container", name).Msg("left by a dead run: removed")
	}
	return errors.Join(err, unknown)
}

// held is the attempt of each trajectory that this worker holds.
func (w *work) held() map[relabel.ID]int {
	held := map[relabel.ID]int{}
	for _, a := range w.mixer.Activity() {
		held[a.TrajectoryID] = a.Attempt
	}
	return held
}

// keep says whether a sandbox is still somebody's: of a live attempt, or, where a
// validation made it, before its deadline.
func keep(l envs.Labels, live map[relabel.ID]int) bool {
	if l.Purpose == "validate" {
		return time.Now().Before(l.Deadline)
	}
	id, err := relabel.ParseID("trajectory", l.Trajectory)
	attempt, alive := live[id]
	return err == nil && alive && attempt == l.Attempt
}
