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
	List cli.WorkerList `cmd:"" help:"List all workers and their trajectories."`
}

// workerRun is `relabel worker`.
type workerRun struct {
	cli.DatabaseFlags
	cli.WorkFlags
	Metrics string `env:"RELABEL_METRICS" placeholder:"ADDR" help:"Address that serves GET /metrics, e.g. 127.0.0.1:7790. Any but loopback requires a bearer token. Default: none."`
}

// Validate refuses values that cannot be used.
func (c *workerRun) Validate() error {
	return errors.Join(c.CheckWork(), checkResources(c.ResourceFlags))
}

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
	res, err := openResources(c.ResourceFlags, db)
	if err != nil {
		return err
	}
	w, err := startWork(ctx, db, c.WorkFlags, c.Data, res, m, log)
	if err != nil {
		return err
	}
	log.Info().Int("rollouts", c.Rollouts).Msg("worker is ready")
	<-ctx.Done()
	return errors.Join(w.Stop(ctx), worker.LogCounts(context.WithoutCancel(ctx), db, log))
}

// serveMetrics answers scrapes until stop, if an address is given.
func (c *workerRun) serveMetrics(db *database, m *worker.Metrics, log zerolog.Logger) (stop func() error, err error) {
	if c.Metrics == "" {
		return func() error { return nil }, nil
	}
	listener, err := cli.Listen(c.Metrics, "--metrics")
	if err != nil {
		return nil, err
	}
	handler := server.NewMetrics(server.Config{Store: db.Store, RequireToken: !cli.IsLoopback(c.Metrics), Metrics: m.Handler(), Log: quietLog()})
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
