package worker

import (
	"context"
	"errors"
)

// AllRollouts are the rollouts of several kinds of task as one.
type AllRollouts []Rollouts

// Drain drains each.
func (all AllRollouts) Drain() {
	for _, r := range all {
		r.Drain()
	}
}

// Cut cuts each.
func (all AllRollouts) Cut() {
	for _, r := range all {
		r.Cut()
	}
}

// Wait waits for each, and returns how many trajectories were released together.
func (all AllRollouts) Wait(ctx context.Context) (released int, err error) {
	for _, r := range all {
		n, failed := r.Wait(ctx)
		released += n
		err = errors.Join(err, failed)
	}
	return released, err
}
