package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// Sandbox identifies a sandbox on an engine.
type Sandbox struct {
	Trajectory string    // id
	Attempt    int       // of the trajectory
	Validation bool      // made by a validation of tasks, not by an attempt
	Deadline   time.Time // of a validation
}

// ReaperConfig is what a Reaper needs.
type ReaperConfig struct {
	// Activity returns the trajectories that this process holds.
	Activity func() []relabel.RolloutActivity
	// Live returns the attempt of each trajectory that any process holds.
	Live func(ctx context.Context) (map[relabel.ID]int, error)
	// Remove lists the sandboxes of all engines, removes those that keep rejects and returns
	// their names. keep is called after an engine's sandboxes are listed.
	Remove func(ctx context.Context, keep func(Sandbox) bool) ([]string, error)
	Log    zerolog.Logger
}

// Reaper removes the sandboxes of dead attempts. It is a service apart from Recovery, which
// must not wait for an engine that hangs.
type Reaper struct {
	ReaperConfig
	periodic
}

// NewReaper returns a Reaper.
func NewReaper(c ReaperConfig) (*Reaper, error) {
	r := &Reaper{ReaperConfig: c}
	r.periodic = periodic{Task: Task{Period: recoveryPeriod, Run: r.RunNow, Failure: "cannot remove the sandboxes of dead attempts", Log: c.Log}}
	return r, require("reaper", requirement{"Activity", c.Activity != nil}, requirement{"Live", c.Live != nil}, requirement{"Remove", c.Remove != nil})
}

// RunNow removes the sandboxes of dead attempts once. The database is asked only if there
// are sandboxes that this process does not hold.
func (r *Reaper) RunNow(ctx context.Context) error {
	// A sandbox is listed before the live attempts are read, and its trajectory is claimed before it is
	// created: so no live sandbox counts as dead.
	held := sync.OnceValue(r.held)
	var unknown error
	live := sync.OnceValue(func() (attempts map[relabel.ID]int) {
		attempts, unknown = r.Live(ctx)
		return attempts
	})
	removed, err := r.Remove(ctx, func(s Sandbox) bool {
		return s.isLive(held()) || s.isLive(live()) || unknown != nil
	})
	for _, name := range removed {
		r.Log.Warn().Str("container", name).Msg("removed the sandbox of a dead attempt")
	}
	return errors.Join(err, unknown)
}

// held returns the attempt of each trajectory that this process holds.
func (r *Reaper) held() map[relabel.ID]int {
	held := map[relabel.ID]int{}
	for _, a := range r.Activity() {
		held[a.TrajectoryID] = a.Attempt
	}
	return held
}

// isLive reports whether a sandbox is in use: by a live attempt, or by a validation before
// its deadline.
func (s Sandbox) isLive(attempts map[relabel.ID]int) bool {
	if s.Validation {
		return time.Now().Before(s.Deadline)
	}
	id, err := relabel.ParseID("trajectory", s.Trajectory)
	attempt, found := attempts[id]
	return err == nil && found && attempt == s.Attempt
}
