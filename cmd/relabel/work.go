package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
	"relabel/labeller"
	"relabel/mixer"
	"relabel/shard"
	"relabel/store"
	"relabel/worker"
)

// cancelLimit bounds the cancellation of exports at the end of a command.
const cancelLimit = 60 * time.Second

// work is the part of a process that takes jobs from the queue.
type work struct {
	*worker.Worker
	host     *fleet.Fleet
	capacity worker.Capacity
}

// startWork connects to the engines and starts the queue's jobs and the services beside them.
func startWork(ctx context.Context, db *database, f cli.WorkFlags, data string, res resources, m *worker.Metrics, log zerolog.Logger) (*work, error) {
	host, err := openHost(ctx, db, f, log)
	if err != nil {
		return nil, err
	}
	w, err := startWorkOn(ctx, host, db, f, data, res, m, log)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	return w, nil
}

// startWorkOn is startWork with an open host.
func startWorkOn(ctx context.Context, host *fleet.Fleet, db *database, f cli.WorkFlags, data string, res resources, m *worker.Metrics, log zerolog.Logger) (*work, error) {
	me := relabel.Worker{Name: worker.NewOwner(), Machine: machineName(), Process: os.Getpid(), DockerHosts: host.Names(),
		Rollouts: f.Rollouts, Prefetch: f.Prefetch, Version: version}
	slots := mixer.Slots{Rollouts: f.Rollouts, Prefetch: f.Prefetch}
	log = log.With().Str("worker", me.Name).Logger()
	disk, err := worker.NewDiskGuard(worker.DiskGuardConfig{Folder: data, MinFree: int64(f.MinFree), Free: docker.FreeBytes, Log: log})
	if err != nil {
		return nil, err
	}
	engines := func() (all []worker.Engine) {
		for _, h := range host.Health() {
			all = append(all, worker.Engine(h))
		}
		return all
	}
	capacity := worker.Capacity{Fleet: host, Engines: engines, Disk: disk}
	policies := newPolicies(db, f.Secrets, res, m, log)
	verifier := verify.New(host) // shared: it caches the results of gold patches
	mix := mixer.New(mixer.Config{Store: db.Store, Environment: newEnvironment(host, verifier, policies), Owner: me.Name, Lease: f.Lease,
		Slots: slots, Room: capacity.Check, Log: log, Observe: mixer.Observe{Started: m.Started, Committed: m.Committed, Settled: m.Labelled,
			Replayed: m.Replayed, Broke: m.Failed, Ended: m.Ended}})
	m.AddRollouts(mix.Activity)
	m.AddEngines(engines)
	labels := newLabeller(db, f.Lease, policies, me.Name, log)
	exporter, err := newExporter(db, data, res, log)
	if err != nil {
		return nil, err
	}
	regrader, err := newRegrader(db, verifier, f.Lease, me.Name, capacity, log)
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, mixer.NewWorker(mix))
	river.AddWorker(workers, shard.NewWorker(exporter))
	river.AddWorker(workers, newWebhookSender(db, f.Secrets, res, log))
	labeller.AddWorkers(workers, labels)
	worker.AddRegrader(workers, regrader)
	queue, err := worker.NewQueue(db.Store, db.Clock(), me.Name, workers, exportQueues(exporter, map[string]river.QueueConfig{"rollout": {MaxWorkers: slots.Claims()},
		"label": {MaxWorkers: labelsAtOnce}, store.QueueRegrade: {MaxWorkers: regradesAtOnce}, "webhook": {MaxWorkers: webhooksAtOnce}}))
	if err != nil {
		return nil, err
	}
	s := &services{db: db, host: host, mixer: mix, endpoints: policies.options.Endpoints, metrics: m, me: me, log: log}
	recovery, err := s.add(capacity, f, slots.Claims())
	if err != nil {
		return nil, err
	}
	s.worker, err = worker.New(worker.Config{Store: db.Store, Queue: queue, Rollouts: mix, Drain: []func(){labels.Drain}, Self: s.self,
		Recover: recovery.RunNow, Services: s.all, Hurry: worker.Hurried, Grace: f.Grace, Close: host.Close, Log: log})
	if err != nil {
		return nil, err
	}
	return &work{Worker: s.worker, host: host, capacity: capacity}, s.worker.Start(ctx)
}

// machineName returns the host name.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// newEnvironment returns the environment of the mixer.
func newEnvironment(host *fleet.Fleet, verifier *verify.Verifier, policies *policies) mixer.Environment {
	return mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			return openhands.Start(ctx, host, c)
		},
		Parse: func(c relabel.Claim, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(c.Run.Prompts.Tools, action)
		},
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
			return verifier.Verify(ctx, c.Task, c.TrajectoryID, c.Attempt, c.Run.Limits, patch)
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) { return policies.Open(p) },
		Count:  policies.count,
		EngineFailed: func(ctx context.Context, name string, err error) bool {
			return errors.Is(err, envs.ErrEngine) || !host.Well(ctx, name)
		},
		Down: policies.Down,
	}
}
