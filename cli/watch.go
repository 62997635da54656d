package cli

import (
	"context"
	"fmt"
	"time"

	"relabel"
)

// runWatch is `relabel run watch RUN|ITERATION`.
type runWatch struct{ target }

// Run watches the iteration to its end. It fails if none of its trajectories is done then.
func (c *runWatch) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, it, err := c.iteration(ctx, cl)
		if err != nil {
			return err
		}
		return watchToTheEnd(ctx, cl, run, it)
	})
}

// iteration returns the given iteration; of a run, the newest running one, or else the
// newest.
func (c target) iteration(ctx context.Context, cl *Session) (run relabel.Run, it relabel.Iteration, err error) {
	run, found, err := c.find(ctx, cl)
	switch {
	case err != nil:
		return run, it, err
	case found != nil:
		run, err = findRun(ctx, cl, found.RunID.String())
		return run, found.Iteration, err
	}
	its, err := cl.Iterations(ctx, run.ID)
	for _, newer := range its {
		if newer.State == relabel.IterationRunning || it.State != relabel.IterationRunning {
			it = newer.Iteration
		}
	}
	if err == nil && it.Number == 0 {
		err = relabel.Errorf(relabel.CodeNotFound, "%s has no iteration yet; `relabel run iterate` starts one", run.Name)
	}
	return run, it, err
}

// poll calls look every period until it reports the end or fails, or ctx ends.
func poll(ctx context.Context, period time.Duration, look func() (over bool, err error)) error {
	for {
		over, err := look()
		if over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(period):
		}
	}
}

// workPeriod is the time between two looks at the progress of work.
const workPeriod = time.Second

// watchWork waits until workers have ended some work, and prints each change of its progress. With
// detach, or if no server runs, it looks once. what names the work.
func (c *Session) watchWork(ctx context.Context, what string, detach bool, look func() (line string, over bool, err error)) (over bool, err error) {
	switch {
	case detach:
	case c.local != nil:
		fmt.Printf("No server runs here: `relabel serve` will do the %s.\n", what)
	default:
		warnWithoutWorker(ctx, c)
	}
	printed := ""
	err = poll(ctx, workPeriod, func() (bool, error) {
		line, ended, err := look()
		if err != nil {
			return false, err
		}
		if line != printed {
			say("%s", line)
			printed = line
		}
		over = ended
		return over || detach || c.local != nil, nil
	})
	if ctx.Err() != nil {
		err = Interruptedf("the %s continues %s: the same command watches it, and with --cancel cancels it", what, c.elsewhere())
	}
	return over, err
}
