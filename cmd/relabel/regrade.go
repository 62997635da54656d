package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs/verify"
	"relabel/regrader"
)

// regradesAtOnce is how many submissions a process grades again at once: each takes a
// container beside those of the rollouts.
const regradesAtOnce = 2

// newRegrader joins store and verifier into what grades stored submissions again.
func newRegrader(db *database, verifier *verify.Verifier, length time.Duration, owner string, there room, log zerolog.Logger) *regrader.Regrader {
	return regrader.New(regrader.Config{Store: db.Store, Owner: owner, Lease: length, Room: there.check, Log: log,
		Verify: func(ctx context.Context, c relabel.RegradeClaim) (relabel.Verdict, error) {
			return verifier.Verify(ctx, c.Task, c.Trajectory.ID, c.Trajectory.Attempt, c.Limits, c.Patch)
		}})
}
