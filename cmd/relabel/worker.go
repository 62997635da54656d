package main

import (
	"context"
	"errors"

	"relabel/cli"
	"relabel/policy"
	"relabel/server"
	"relabel/store/localpg"
	"relabel/worker"
)

// workerCommand is `relabel worker`.
type workerCommand struct {
	Run  workerRun      `cmd:"" default:"withargs" help:"Roll out trajectories."`
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
	db, err := localpg.Join(ctx, c.Data, c.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	p, err := openProcess(db, c.Data, c.ResourceFlags, log)
	if err != nil {
		return err
	}
	p.secrets = policy.Secrets{Dir: c.Secrets}
	if c.Metrics != "" {
		listener, err := server.Listen(c.Metrics, "--metrics")
		if err != nil {
			return err
		}
		_, stop := server.Start(ctx, listener, server.NewMetrics(server.Config{Store: db.Store,
			RequireToken: !server.IsLoopback(c.Metrics), Metrics: p.metrics.Handler(), Log: quietLog()}))
		defer func() { err = errors.Join(err, stop()) }()
		log.Info().Msg("metrics are at http://" + listener.Addr().String() + "/metrics")
	}
	w, err := p.startWork(ctx, c.WorkFlags)
	if err != nil {
		return err
	}
	log.Info().Int("rollouts", c.Rollouts).Msg("worker is ready")
	<-ctx.Done()
	return errors.Join(w.Stop(ctx), worker.LogCounts(context.WithoutCancel(ctx), db, log))
}
