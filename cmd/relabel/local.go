package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel/cli"
	"relabel/policy"
	"relabel/server"
	"relabel/shard"
	"relabel/store/localpg"
	"relabel/worker"
)

// cancelLimit bounds the cancellation of exports at the end of a command.
const cancelLimit = 60 * time.Second

// serveLocal opens the database and serves it on a loopback port, for one command.
func serveLocal(ctx context.Context, f cli.DatabaseFlags) (*cli.Local, error) {
	db, err := openDatabase(ctx, f)
	if err != nil {
		return nil, err
	}
	local, err := serveDatabase(ctx, db, f.Data)
	if err != nil {
		return nil, errors.Join(err, db.Close(ctx))
	}
	return local, nil
}

// serveDatabase is serveLocal with an open database, which Local.Close closes.
func serveDatabase(ctx context.Context, db *localpg.Database, data string) (*cli.Local, error) {
	flags, err := cli.EnvironmentResources()
	if err != nil {
		return nil, err
	}
	p, err := openProcess(db, data, flags, quietLog())
	if err != nil {
		return nil, err
	}
	p.secrets = policy.Secrets{Dir: os.Getenv("RELABEL_SECRETS")}
	site, err := p.site(nil, false, os.Getenv("RELABEL_SECRETS"))
	if err != nil {
		return nil, err
	}
	listener, err := server.Listen("127.0.0.1:0", "--server")
	if err != nil {
		return nil, err
	}
	_, stop := server.Start(ctx, listener, site)
	stopDeletions := startDeletions(ctx, db, p.log)
	return &cli.Local{
		Address:      "http://" + listener.Addr().String(),
		OwnPostgres:  db.Local != nil,
		StartExports: p.startExports,
		Close: func() error {
			err := stop()
			stopDeletions()
			return errors.Join(err, db.Close(ctx))
		},
	}, nil
}

// startExports builds exports until stop, for a command without a server.
func (p *process) startExports(ctx context.Context) (stop func() error, err error) {
	quiet := *p
	quiet.log = p.log.Level(zerolog.ErrorLevel) // the command reports the rest
	exporter, err := quiet.exporter()
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, shard.NewWorker(exporter))
	queues := exportQueues(exporter, map[string]river.QueueConfig{})
	client, err := worker.NewQueue(p.db.Store, p.db.Clock(), worker.NewOwner(), workers, queues)
	if err != nil {
		return nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
		defer cancel()
		return client.StopAndCancel(ctx)
	}
	return stop, client.Start(context.WithoutCancel(ctx))
}
