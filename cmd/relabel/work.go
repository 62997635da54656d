package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/verify"
	"relabel/mixer"
	"relabel/shard"
)

// dockerFlags say where sandboxes are made.
type dockerFlags struct {
	Docker   string `env:"DOCKER_HOST" placeholder:"URL" help:"Docker engine of the sandboxes. Default: the local one."`
	Sandboxd string `env:"RELABEL_SANDBOXD" placeholder:"FILE" help:"The sandboxd binary. Default: the one beside relabel."`
}

// secretFlags say where the keys of model endpoints are.
type secretFlags struct {
	Secrets string `env:"RELABEL_SECRETS" placeholder:"DIR" help:"Folder with a file for each secret that policies name."`
}

// workFlags bound what one process rolls out.
type workFlags struct {
	Rollouts int `default:"4" env:"RELABEL_ROLLOUTS" help:"Trajectories rolled out at once."`
	dockerFlags
	secretFlags
}

const (
	leaseTime     = 60 * time.Second // without renewal a trajectory is another's to take
	recoverPeriod = 10 * time.Second // between looks for abandoned trajectories and sandboxes
	stopPatience  = 60 * time.Second // for running turns to be given back at a stop
)

// work is the part of a process that takes jobs from the queue.
type work struct {
	db    *database
	host  *docker.Host
	river *river.Client[pgxTx]
	log   zerolog.Logger
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// startWork begins to take rollouts and exports from the queue.
func startWork(ctx context.Context, db *database, f workFlags, exports string, log zerolog.Logger) (*work, error) {
	if f.Rollouts < 1 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "is %d; who works rolls out at least one", f.Rollouts).On("--rollouts")
	}
	host, err := openHost(ctx, db, f)
	if err != nil {
		return nil, err
	}
	owner := newOwner()
	m := mixer.New(mixer.Config{Store: db.Store, World: newWorld(host, newPolicies(db, f.Secrets, log)), Owner: owner, Lease: leaseTime, Log: log})
	exporter := shard.NewExporter(shard.Config{Store: db.Store, Root: exports, Log: log, Version: version})
	workers := river.NewWorkers()
	river.AddWorker(workers, mixer.NewWorker(m))
	river.AddWorker(workers, shard.NewWorker(exporter))
	client, err := river.NewClient(riverpgxv5.New(db.Pool()), &river.Config{
		Schema:  db.Schema(),
		Queues:  map[string]river.QueueConfig{"rollout": {MaxWorkers: f.Rollouts}, "export": {MaxWorkers: 1}},
		Workers: workers, JobTimeout: -1, ID: owner, Logger: riverLog(),
	})
	if err != nil {
		return nil, err
	}
	w := &work{db: db, host: host, river: client, log: log}
	if err := w.recover(ctx); err != nil {
		return nil, err
	}
	loop, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	w.done.Go(func() { w.recoverLoop(loop) })
	return w, client.Start(context.WithoutCancel(ctx))
}

// startExports takes exports alone from the queue, for a command without a server.
func startExports(ctx context.Context, db *database, exports string) (stop func() error, err error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, shard.NewWorker(shard.NewExporter(shard.Config{Store: db.Store, Root: exports, Log: quietLog(), Version: version})))
	client, err := river.NewClient(riverpgxv5.New(db.Pool()), &river.Config{
		Schema: db.Schema(), Queues: map[string]river.QueueConfig{"export": {MaxWorkers: 1}},
		Workers: workers, JobTimeout: -1, ID: newOwner(), Logger: riverLog(),
	})
	if err != nil {
		return nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		return client.StopAndCancel(ctx)
	}
	return stop, client.Start(context.WithoutCancel(ctx))
}

// Stop gives running trajectories back to the queue and removes their sandboxes.
func (w *work) Stop(ctx context.Context) error {
	w.stop()
	w.done.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	return w.river.StopAndCancel(ctx)
}

// recover requeues what dead workers left and removes their sandboxes.
func (w *work) recover(ctx context.Context) error {
	recovered, err := w.db.RecoverAbandoned(ctx, isGone)
	if err != nil {
		return err
	}
	for _, r := range recovered {
		w.log.Warn().Stringer("trajectory", r.TrajectoryID).Int("attempt", r.Attempt).Str("owner", r.Owner).
			Msg("its worker is gone: queued again")
	}
	// The engine lists sandboxes before the first is asked about: whichever was listed had
	// its trajectory claimed before the live attempts are read.
	live := sync.OnceValues(func() (map[relabel.ID]int, error) { return w.db.LiveAttempts(ctx) })
	removed, err := w.host.Reap(ctx, func(l envs.Labels) bool {
		attempts, err := live()
		return err != nil || keep(l, attempts)
	})
	for _, name := range removed {
		w.log.Warn().Str("container", name).Msg("left by a dead run: removed")
	}
	if _, unknown := live(); unknown != nil {
		return errors.Join(err, unknown)
	}
	return err
}

// keep says whether a sandbox is still somebody's: of a live attempt, or, where a
// validation made it, before its deadline.
func keep(l envs.Labels, live map[relabel.ID]int) bool {
	if l.Purpose == "validate" {
		return time.Now().Before(l.Deadline)
	}
	id, err := relabel.ParseID("trajectory", l.Trajectory)
	attempt, alive := live[id]
	return err == nil && alive && attempt == l.Attempt
}

func (w *work) recoverLoop(ctx context.Context) {
	tick := time.NewTicker(recoverPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.recover(ctx); err != nil && ctx.Err() == nil {
			w.log.Error().Err(err).Msg("looking for abandoned trajectories")
		}
	}
}

// openHost connects to the Docker engine; it fails where none answers.
func openHost(ctx context.Context, db *database, f workFlags) (*docker.Host, error) {
	instance, err := db.Instance(ctx)
	if err != nil {
		return nil, err
	}
	host, err := docker.NewHost(docker.Config{Address: f.Docker, Instance: instance, Sandboxd: f.Sandboxd})
	if err != nil {
		return nil, err
	}
	if err := host.Ping(ctx); err != nil {
		return nil, errors.Join(err, host.Close())
	}
	return host, nil
}

// newWorld joins sandboxes, scaffold, verifier and policies into what the mixer acts in.
func newWorld(host *docker.Host, policies *policies) mixer.World {
	verifier := verify.New(host)
	return mixer.World{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			return openhands.Start(ctx, host, c)
		},
		Parse: func(c relabel.Claim, action relabel.Message) relabel.ParseOutcome {
			return openhands.Parse(c.Run.Prompts.Tools, action)
		},
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
			return verifier.Verify(ctx, c.Task, c.TrajectoryID, c.Attempt, c.Run.Limits, patch)
		},
		Policy: policies.open,
	}
}

// exportsFolder is where exports are written.
func (f databaseFlags) exportsFolder() string { return filepath.Join(f.Data, "exports") }
