package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/rs/zerolog"

	"relabel/cli"
	"relabel/server"
	"relabel/worker"
)

// workerCommand is `relabel worker`.
type workerCommand struct {
	Run  workerRun      `cmd:"" default:"withargs" help:"Roll trajectories out."`
	List cli.WorkerList `cmd:"" help:"List the processes that roll out, and what each holds."`
}

// workerRun is `relabel worker` without more.
type workerRun struct {
	cli.DatabaseFlags
	workFlags
	Metrics string `env:"RELABEL_METRICS" placeholder:"ADDR" help:"Address to answer GET /metrics at, e.g. 127.0.0.1:7790. Any but loopback demands a bearer token. Default: nowhere."`
}

// Validate checks the flags before anything is begun.
func (c *workerRun) Validate() error { return c.check() }

// Run rolls trajectories out until a signal.
func (c *workerRun) Run(ctx context.Context) (err error) {
	log := newLog()
	db, err := joinDatabase(ctx, c.DatabaseFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	m := worker.NewMetrics(version)
	stop, err := c.serveMetrics(db, m, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	res, err := c.resourceFlags.open(db)
	if err != nil {
		return err
	}
	w, err := startWork(ctx, db, c.workFlags, c.Data, res, m, log)
	if err != nil {
		return err
	}
	log.Info().Int("rollouts", c.Rollouts).Msg("worker is ready")
	<-ctx.Done()
	return errors.Join(w.Stop(ctx), worker.LogCounts(context.WithoutCancel(ctx), db, log))
}

// serveMetrics answers scrapes, where an address is given, until stop.
func (c *workerRun) serveMetrics(db *database, m *worker.Metrics, log zerolog.Logger) (stop func() error, err error) {
	if c.Metrics == "" {
		return func() error { return nil }, nil
	}
	listener, err := listen(c.Metrics, "--metrics")
	if err != nil {
		return nil, err
	}
	handler := server.NewMetrics(server.Config{Store: db.Store, RequireToken: !isLoopback(c.Metrics), Metrics: m.Handler(), Log: quietLog()})
	srv := server.NewHTTP(c.Metrics, handler)
	log.Info().Msg("metrics are at http://" + listener.Addr().String() + "/metrics")
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	return func() error {
		err := srv.Close()
		if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
