package labeller

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/lease"
)

// ending has the ends of a relabeling, scoring or judging.
type ending struct {
	name    string // of the kind of work
	log     zerolog.Logger
	finish  func(ctx context.Context) error
	fail    func(ctx context.Context, why string) error // for a reason that is safe to show
	release func(ctx context.Context) error
}

// conclude finishes, fails or releases claimed work, given the error that it ended with.
func conclude(ctx context.Context, err error, e ending) error {
	var hopeless *uncallable
	switch {
	case lease.Lost(err):
		e.log.Warn().Msg("lease lost (cancelled or taken over): stopping the " + e.name)
		return relabel.Errorf(relabel.CodeLeaseLost, "the %s was cancelled, or another worker has it", e.name)
	case err == nil:
		err = write(ctx, e.finish)
		if err == nil {
			e.log.Info().Msg("finished the " + e.name)
		}
		return err
	case errors.As(err, &hopeless) && ctx.Err() == nil:
		e.log.Warn().Err(hopeless.cause).Msg("the policy cannot be called")
		return write(ctx, func(ctx context.Context) error { return e.fail(ctx, hopeless.Error()) })
	}
	why := err
	if ctx.Err() != nil || errors.Is(err, ErrReleased) {
		why = ErrReleased
	}
	return errors.Join(why, write(ctx, e.release))
}
