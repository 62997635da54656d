package worker

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/lease"
)

const (
	// writeLimit bounds one write to the store. A shutdown does not interrupt writes.
	writeLimit = 30 * time.Second
	// regradePause is the pause after an infrastructure error.
	regradePause = 30 * time.Second
)

// ErrReleased means that the regrading was released because the worker stops.
var ErrReleased = errors.New("the regrading was released")

// RegraderStore keeps regradings. Methods that take a fence fail with CodeLeaseLost once another
// worker has claimed the regrading, or it was cancelled, and have then changed nothing.
// Methods are safe for concurrent use.
type RegraderStore interface {
	// ClaimRegrading gives owner the regrading that is due longest; CodeNotFound when there
	// is none.
	ClaimRegrading(ctx context.Context, owner string, length time.Duration) (relabel.RegradeClaim, error)
	RenewRegrading(ctx context.Context, f relabel.RegradeFence, length time.Duration) error
	ReleaseRegrading(ctx context.Context, f relabel.RegradeFence) error
	// FinishRegrading stores the verdict. One that is an infrastructure error leaves the
	// current verdict as it is, and the regrading due after pause, a bounded number of times.
	FinishRegrading(ctx context.Context, f relabel.RegradeFence, v relabel.Verdict, pause time.Duration) error
}

// RegraderConfig is what a Regrader needs.
type RegraderConfig struct {
	Store RegraderStore
	// Verify grades a submission. A fault of a container is Verdict.Infra; the only error is
	// ctx's.
	Verify func(ctx context.Context, c relabel.RegradeClaim) (relabel.Verdict, error)
	// Capacity fails while there is no engine or no disk space for new work; nil never does.
	Capacity func(ctx context.Context) error
	Owner    string        // names this worker; unique among live ones
	Lease    time.Duration // 0 means lease.Default
	Log      zerolog.Logger
}

// Regrader grades stored submissions again: it verifies the patch of a trajectory that is
// done in a fresh container and stores the verdict beside the earlier ones. A regrading is
// claimed like a trajectory, with a lease and a fence; another worker grades what a dead one
// left. It is safe for concurrent use.
type Regrader struct{ RegraderConfig }

// NewRegrader returns a Regrader.
func NewRegrader(c RegraderConfig) (*Regrader, error) {
	if c.Lease <= 0 {
		c.Lease = lease.Default
	}
	return &Regrader{c}, require("regrader", requirement{"Store", c.Store != nil}, requirement{"Verify", c.Verify != nil}, requirement{"Owner", c.Owner != ""})
}

// Regrade claims a regrading and grades its submission. It returns nil when the verdict is
// stored; CodeNotFound when none is due; CodeLeaseLost when the regrading was cancelled or
// taken over; ErrReleased when ctx ended; CodeUnavailable without capacity. Any other error is
// the store's.
func (r *Regrader) Regrade(ctx context.Context) error {
	if ctx.Err() != nil {
		return ErrReleased
	}
	if r.Capacity != nil {
		if err := r.Capacity(ctx); err != nil {
			return err
		}
	}
	since := time.Now()
	var claim relabel.RegradeClaim
	err := write(ctx, func(ctx context.Context) (err error) {
		claim, err = r.Store.ClaimRegrading(ctx, r.Owner, r.Lease)
		return err
	})
	if err != nil {
		return err
	}
	renew := func(ctx context.Context, length time.Duration) (bool, error) {
		return false, r.Store.RenewRegrading(ctx, claim.RegradeFence, length)
	}
	life, _, release := lease.NewSingleKeeper(r.Lease, renew, r.Log).Keep(ctx, since)
	defer release()
	return r.conclude(life, claim)
}

// conclude grades and stores, or releases what ctx's end cut short.
func (r *Regrader) conclude(life context.Context, claim relabel.RegradeClaim) error {
	log := r.Log.With().Stringer("trajectory", claim.Trajectory.ID).Stringer("regrading", claim.RegradingID).Logger()
	verdict, err := r.verify(life, claim, log)
	cause := context.Cause(life)
	switch {
	case lease.Lost(cause):
		return relabel.Errorf(relabel.CodeLeaseLost, "the regrading was cancelled or taken over")
	case cause != nil || err != nil:
		released := write(life, func(ctx context.Context) error { return r.Store.ReleaseRegrading(ctx, claim.RegradeFence) })
		return errors.Join(ErrReleased, released)
	}
	err = write(life, func(ctx context.Context) error {
		return r.Store.FinishRegrading(ctx, claim.RegradeFence, verdict, regradePause)
	})
	if err == nil {
		log.Info().Bool("passed", verdict.Passed).Int("protections", verdict.Protections).Str("infra", verdict.Infra).Msg("graded again")
	}
	return err
}

// verify runs Verify; a panic is an infrastructure error.
func (r *Regrader) verify(life context.Context, claim relabel.RegradeClaim, log zerolog.Logger) (v relabel.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a regrading panicked")
			v, err = relabel.Verdict{Infra: "a bug in the verifier; the worker's log has the details"}, nil
		}
	}()
	return r.Verify(life, claim)
}

// write writes to the store, uninterrupted by a shutdown.
func write(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return do(ctx)
}
