package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"

	"github.com/rs/zerolog"

	"relabel/api"
	"relabel/cli"
	"relabel/envs/fleet"
	"relabel/policy"
	"relabel/server"
	"relabel/store/localpg"
	"relabel/worker"
)

// serveCommand is `relabel serve`.
type serveCommand struct {
	cli.ServeFlags
	NoWork bool `help:"Serve only; workers run elsewhere."`
}

// Validate refuses values that cannot be used.
func (c *serveCommand) Validate() error {
	if err := errors.Join(c.CheckSite(), checkResources(c.ResourceFlags)); err != nil || c.NoWork {
		return err
	}
	return c.CheckWork()
}

// Run serves until a signal.
func (c *serveCommand) Run(ctx context.Context) error {
	if c.NoWork {
		c.Rollouts, c.Repositories = 0, "" // withSite then starts no work
	}
	return withSite(ctx, c.ServeFlags, newLog(), func(ctx context.Context, _ *cli.Session, _ *fleet.Fleet) error {
		<-ctx.Done()
		return nil
	})
}

// withSite opens the database, starts to work and to serve, and calls use. When use returns,
// everything stops in reverse order. details is the log of requests and rollouts.
func withSite(ctx context.Context, f cli.ServeFlags, details zerolog.Logger,
	use func(context.Context, *cli.Session, *fleet.Fleet) error) (err error) {
	log := newLog()
	listener, err := server.Listen(f.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // a second close of a listener that was served is harmless
	db, err := openDatabase(ctx, f.DatabaseFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	release, err := localpg.Claim(f.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := worker.LogCounts(ctx, db, log); err != nil {
		return err
	}
	if err := db.SetSite(ctx, f.Site(server.AddressOf(listener))); err != nil {
		return err
	}
	p, err := openProcess(db, f.Data, f.ResourceFlags, details)
	if err != nil {
		return err
	}
	p.secrets = policy.Secrets{Dir: f.Secrets}
	var host *fleet.Fleet
	var ready func(context.Context) []api.Check
	stopWork := func() error { return nil }
	if f.Rollouts != 0 || f.Searching() {
		w, err := p.startWork(ctx, f.WorkFlags)
		if err != nil {
			return err
		}
		host, ready = w.host, w.capacity.Ready
		stopWork = func() error { return w.Stop(ctx) } // a second call returns the first one's error
		defer func() { err = errors.Join(err, stopWork(), worker.LogCounts(context.WithoutCancel(ctx), db, log)) }()
	}
	defer startDeletions(ctx, db, log)()
	site, err := p.site(ready, !server.IsLoopback(f.Listen), f.Secrets)
	if err != nil {
		return err
	}
	return serve(ctx, f.DatabaseFlags, listener, site, log, func(ctx context.Context, c *cli.Session) error {
		defer stopWork() // while REST still answers; its error is joined above
		return use(ctx, c, host)
	})
}

// serve answers requests until use returns, and publishes the address in the data
// folder meanwhile, where the other commands find it.
func serve(ctx context.Context, f cli.DatabaseFlags, l net.Listener, site http.Handler, log zerolog.Logger,
	use func(context.Context, *cli.Session) error) error {
	url := "http://" + l.Addr().String()
	if err := os.WriteFile(f.ServerFile(), []byte(url+"\n"), 0o644); err != nil {
		return err
	}
	defer os.Remove(f.ServerFile())
	log.Info().Msg("relabel is at " + server.AddressOf(l))
	ctx, stop := server.Start(ctx, l, site)
	cl, err := cli.Open(url, "", "--listen")
	if err == nil {
		err = use(ctx, cl)
	}
	return errors.Join(err, stop())
}
