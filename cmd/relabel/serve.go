package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/api"
	"relabel/cli"
	"relabel/envs/fleet"
	"relabel/server"
	"relabel/worker"
)

// serveFlags are those of a process that serves and works.
type serveFlags struct {
	cli.DatabaseFlags
	workFlags
	siteFlags
	Listen string `default:"127.0.0.1:7788" env:"RELABEL_LISTEN" help:"Address to listen on. Any but loopback demands a bearer token (relabel token create)."`
}

// serveCommand is `relabel serve`.
type serveCommand struct {
	serveFlags
	NoWork bool `help:"Serve only; workers run elsewhere."`
}

// Validate checks the flags before anything is begun.
func (c *serveCommand) Validate() error {
	if err := errors.Join(c.siteFlags.check(), c.resourceFlags.check()); err != nil || c.NoWork {
		return err
	}
	return c.workFlags.check()
}

// Run serves until a signal.
func (c *serveCommand) Run(ctx context.Context) error {
	if c.NoWork {
		c.Rollouts = 0 // withSite then starts no work
	}
	return c.withSite(ctx, newLog(), func(ctx context.Context, cl *cli.Session, _ *fleet.Fleet) error {
		<-ctx.Done()
		return nil
	})
}

// withSite opens the database, begins to work and to serve, and calls use; when use
// returns, everything is stopped in the opposite order. details is the log of requests
// and rollouts.
func (f serveFlags) withSite(ctx context.Context, details zerolog.Logger, use func(context.Context, *cli.Session, *fleet.Fleet) error) (err error) {
	log := newLog()
	listener, err := listen(f.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // a second close of a listener that was served is harmless
	db, err := openDatabase(ctx, f.DatabaseFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(ctx)) }()
	release, err := claimFolder(f.DatabaseFlags)
	if err != nil {
		return err
	}
	defer release()
	if err := worker.LogCounts(ctx, db, log); err != nil {
		return err
	}
	if err := f.announce(ctx, db, addressOf(listener)); err != nil {
		return err
	}
	res, err := f.resourceFlags.open(db)
	if err != nil {
		return err
	}
	var host *fleet.Fleet
	var ready func(context.Context) []api.Check
	m := worker.NewMetrics(version)
	if f.Rollouts != 0 {
		w, err := startWork(ctx, db, f.workFlags, f.Data, res, m, details)
		if err != nil {
			return err
		}
		host, ready = w.host, w.capacity.Ready
		defer func() { err = errors.Join(err, w.Stop(ctx), worker.LogCounts(context.WithoutCancel(ctx), db, log)) }()
		answered := use
		use = func(ctx context.Context, c *cli.Session, host *fleet.Fleet) error {
			defer w.Stop(ctx) // while REST still answers; what comes of it is said above
			return answered(ctx, c, host)
		}
	}
	defer startDeletions(ctx, db, log)()
	site, err := newSite(siteConfig{db: db, data: f.Data, ready: ready, token: !isLoopback(f.Listen), log: details, metrics: m, resources: res})
	if err != nil {
		return err
	}
	return f.serve(ctx, listener, site, log, func(ctx context.Context, c *cli.Session) error { return use(ctx, c, host) })
}

// serve answers requests until use returns, and publishes the address in the data
// folder meanwhile, where the other commands find it.
func (f serveFlags) serve(ctx context.Context, l net.Listener, site http.Handler, log zerolog.Logger, use func(context.Context, *cli.Session) error) error {
	url := "http://" + l.Addr().String()
	if err := os.WriteFile(f.ServerFile(), []byte(url+"\n"), 0o644); err != nil {
		return err
	}
	defer os.Remove(f.ServerFile())
	log.Info().Msg("relabel is at " + addressOf(l))
	srv := server.NewHTTP(l.Addr().String(), site)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(srv.Serve(l)) }()
	cl, err := cli.Open(url, "", "--listen")
	if err == nil {
		err = use(ctx, cl)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(err, cause) // nobody can reach it any more
	}
	stopping, end := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer end()
	if srv.Shutdown(stopping) != nil {
		err = errors.Join(err, srv.Close())
	}
	return err
}

// listen opens the address with an error that says what to do.
func listen(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "cannot listen on %s; choose another address with %s", address, flag).Because(err)
	}
	return l, nil
}

// addressOf says where a listener is reached: by this machine's name where it listens on
// all its addresses.
func addressOf(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return "http://" + l.Addr().String()
	}
	if name, err := os.Hostname(); err == nil {
		host = name
	}
	return "http://" + net.JoinHostPort(host, port)
}

// isLoopback reports whether only this machine can reach the address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
