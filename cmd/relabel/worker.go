package main

import (
	"context"
	"errors"
)

// workerCommand is `relabel worker`.
type workerCommand struct {
	Run  workerRun  `cmd:"" default:"withargs" help:"Roll trajectories out."`
	List workerList `cmd:"" help:"List the processes that roll out, and what each holds."`
}

// workerRun is `relabel worker` without more.
type workerRun struct {
	databaseFlags
	workFlags
}

// Run rolls trajectories out until a signal.
func (c *workerRun) Run(ctx context.Context) (err error) {
	log := newLog()
	db, err := c.joinDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	w, err := startWork(ctx, db, c.workFlags, c.exportsFolder(), log)
	if err != nil {
		return err
	}
	log.Info().Int("rollouts", c.Rollouts).Msg("worker is ready")
	<-ctx.Done()
	return errors.Join(w.Stop(ctx), sayWhatIsThere(context.WithoutCancel(ctx), db, log))
}
