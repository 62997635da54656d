package main

import (
	"context"
	"path/filepath"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel/cli"
	"relabel/shard"
	"relabel/store"
	"relabel/worker"
)

// newExporter returns an exporter for the data folder.
func newExporter(db *database, data string, res resources, log zerolog.Logger) (*shard.Exporter, error) {
	root := filepath.Join(data, "exports")
	folder, err := shard.FolderID(root)
	if err != nil {
		return nil, err
	}
	return shard.NewExporter(shard.Config{Store: db.Store, Tokenizers: res.tokenizers, Destinations: res.destinations, Root: root, FolderID: folder, Machine: machineName(), Log: log, Version: version}), nil
}

// exportQueues adds the queues of x, for its own folder and for buckets, with one job at a time
// each.
func exportQueues(x *shard.Exporter, queues map[string]river.QueueConfig) map[string]river.QueueConfig {
	queues[store.ExportQueue("")] = river.QueueConfig{MaxWorkers: 1}
	queues[store.ExportQueue(x.FolderID)] = river.QueueConfig{MaxWorkers: 1}
	return queues
}

// startExports builds exports until stop, for a command without a server.
func startExports(ctx context.Context, db *database, data string) (stop func() error, err error) {
	flags, err := cli.EnvironmentResources()
	if err != nil {
		return nil, err
	}
	res, err := openResources(flags, db)
	if err != nil {
		return nil, err
	}
	exporter, err := newExporter(db, data, res, newLog().Level(zerolog.ErrorLevel)) // the command reports the rest
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, shard.NewWorker(exporter))
	client, err := worker.NewQueue(db.Store, db.Clock(), worker.NewOwner(), workers, exportQueues(exporter, map[string]river.QueueConfig{}))
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
