package main

import (
	"context"
	"errors"

	"relabel/cli"
	"relabel/server"
	"relabel/worker"
)

// serveLocal opens the database and serves it on a loopback port, for one command.
func serveLocal(ctx context.Context, f cli.DatabaseFlags) (*cli.Local, error) {
	db, err := openDatabase(ctx, f)
	if err != nil {
		return nil, err
	}
	c, err := serveDatabase(db, f.Data)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	stopDeletions := startDeletions(ctx, db, quietLog())
	inner := c.Close
	c.OwnPostgres = db.local != nil
	c.StartExports = func(ctx context.Context) (func() error, error) { return startExports(ctx, db, f.Data) }
	c.Close = func() error {
		err := inner()
		stopDeletions()
		return errors.Join(err, db.Close(ctx))
	}
	return c, nil
}

// serveDatabase serves an open database on a loopback port.
func serveDatabase(db *database, data string) (*cli.Local, error) {
	listener, err := cli.Listen("127.0.0.1:0", "--server")
	if err != nil {
		return nil, err
	}
	flags, err := cli.EnvironmentResources()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	res, err := openResources(flags, db)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	site, err := newSite(siteConfig{db: db, data: data, resources: res, metrics: worker.NewMetrics(version), log: quietLog()})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	srv := server.NewHTTP(listener.Addr().String(), site)
	go func() { _ = srv.Serve(listener) }() // ends with ErrServerClosed at Close
	return &cli.Local{Address: "http://" + listener.Addr().String(), Close: srv.Close}, nil
}
