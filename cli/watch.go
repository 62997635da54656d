package cli

import (
	"context"

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
	if id, err := relabel.ParseID("iteration", c.Target); err == nil {
		found, err := cl.Iteration(ctx, id)
		if err == nil {
			run, err = findRun(ctx, cl, found.RunID.String())
		}
		if relabel.CodeOf(err) != relabel.CodeNotFound {
			return run, found.Iteration, err
		}
	}
	if run, err = findRun(ctx, cl, c.Target); err != nil {
		return run, it, err
	}
	its, err := cl.Iterations(ctx, run.ID)
	if err != nil {
		return run, it, err
	}
	for _, newer := range its {
		if newer.State == relabel.IterationRunning || it.State != relabel.IterationRunning {
			it = newer.Iteration
		}
	}
	if it.Number == 0 {
		return run, it, relabel.Errorf(relabel.CodeNotFound, "%s has no iteration yet; `relabel run iterate` starts one", run.Name)
	}
	return run, it, nil
}
