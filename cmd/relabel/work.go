package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/riverqueue/river"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/fleet"
	"relabel/envs/reward"
	"relabel/envs/scaffold"
	"relabel/envs/verify"
	"relabel/labeller"
	"relabel/mixer"
	"relabel/policy"
	"relabel/shard"
	"relabel/store"
	"relabel/webhook"
	"relabel/worker"
	"relabel/worker/tracing"
)

// What a process does at once of the work beside rollouts.
const (
	labelsAtOnce   = 4  // relabelings, scorings and batches; their policies limit the calls
	judgingsAtOnce = 16 // one call each; their policies limit them
	regradesAtOnce = 2  // submissions, each in a container
	webhooksAtOnce = 4  // deliveries
)

// budgetedAhead is the number of queued trajectories whose images are pulled if these have a budget, which
// then ends the prefetch.
const budgetedAhead = 200

// work is the part of a process that takes jobs from the queue.
type work struct {
	*process
	*worker.Worker
	flags    cli.WorkFlags
	me       relabel.Worker
	host     *fleet.Fleet
	capacity worker.Capacity
	policies *policies
	traces   *tracing.Tracer  // nil unless --traces
	verifier *verify.Verifier // shared: it caches the results of gold patches
	mixer    *mixer.Mixer     // of tasks to repair
	searches *searches        // of tasks to localise; nil without a folder of mirrors
}

// startWork connects to the engines, opens the mirrors, and starts the queue's jobs and the services beside
// them.
func (p *process) startWork(ctx context.Context, f cli.WorkFlags) (*work, error) {
	host, err := p.openHost(ctx, f)
	if err != nil {
		return nil, err
	}
	searches, err := p.openSearches(f)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	w, err := p.startWorkOn(ctx, host, searches, f)
	if err != nil {
		searches.close()
		return nil, errors.Join(err, host.Close())
	}
	return w, nil
}

// startWorkOn is startWork with an open host and mirrors.
func (p *process) startWorkOn(ctx context.Context, host *fleet.Fleet, searches *searches, f cli.WorkFlags) (*work, error) {
	own := *p
	w := &work{process: &own, flags: f, host: host, searches: searches, verifier: verify.New(host)}
	w.me = relabel.Worker{Name: worker.NewOwner(), Machine: worker.MachineName(), Process: os.Getpid(),
		DockerHosts: host.Names(), Rollouts: f.Rollouts, Prefetch: f.Prefetch, Version: version}
	if f.Searching() {
		w.me.Searches = f.Searches
	}
	own.log = p.log.With().Str("worker", w.me.Name).Logger()
	disk, err := worker.NewDiskGuard(worker.DiskGuardConfig{Folder: p.data, MinFree: int64(f.MinFree),
		Free: docker.FreeBytes, Log: own.log})
	if err != nil {
		return nil, err
	}
	w.capacity = worker.Capacity{Fleet: host, Disk: disk, Searches: f.Searching(), NoRepairs: f.Rollouts == 0}
	if w.traces, err = tracing.New(tracing.Config{Mode: tracing.Mode(f.Traces), Version: version, Worker: w.me.Name, Log: own.log}); err != nil {
		return nil, err
	}
	w.policies = own.newPolicies(f.Secrets, w.traces)
	slots := mixer.Slots{Rollouts: f.Rollouts, Prefetch: f.Prefetch}
	observe := w.observe()
	w.mixer = mixer.New(mixer.Config{Store: p.db.Store, Environment: w.traced(w.environment()), Owner: w.me.Name, Lease: f.Lease,
		Slots: slots, Room: w.capacity.Check, Log: own.log, Observe: observe})
	if searches != nil {
		searches.mixer = mixer.New(mixer.Config{Store: p.db.Store, Environment: w.traced(w.searchEnvironment()), Owner: w.me.Name, Kind: relabel.Localise,
			Lease: f.Lease, Slots: mixer.Slots{Rollouts: f.Searches}, Room: func(context.Context) error { return disk.Check() }, Log: own.log, Observe: observe})
	}
	p.metrics.AddRollouts(w.activity)
	p.metrics.AddEngines(host.Health)
	if w.traces != nil {
		p.metrics.AddTraces(func() (sent, failed, dropped int64) {
			c := w.traces.Counts()
			return c.Sent, c.Failed, c.Dropped
		})
	}
	labels := w.newLabeller()
	queue, err := w.queue(labels, slots.Claims())
	if err != nil {
		return nil, err
	}
	recovery, services, err := w.services(slots.Claims())
	if err != nil {
		return nil, err
	}
	w.Worker, err = worker.New(worker.Config{Store: p.db.Store, Queue: queue, Rollouts: w.rollouts(),
		Drain: []func(){labels.Drain}, Me: w.me, Engines: host.Health, Recover: recovery.RunNow, Services: services,
		Hurry: worker.Hurried, Grace: f.Grace, Close: func() error {
			w.traces.Close()
			searches.close()
			return host.Close()
		}, Log: own.log})
	if err != nil {
		return nil, err
	}
	return w, w.Start(ctx)
}

// queue returns the client that works the queue's jobs.
func (w *work) queue(labels *labeller.Labeller, rollouts int) (worker.Queue, error) {
	exporter, err := w.exporter()
	if err != nil {
		return nil, err
	}
	regrader, err := worker.NewRegrader(worker.RegraderConfig{Store: w.db.Store, Owner: w.me.Name, Lease: w.flags.Lease,
		Capacity: w.capacity.Check, Log: w.log,
		Verify: func(ctx context.Context, c relabel.RegradeClaim) (relabel.Verdict, error) {
			begun := time.Now()
			verdict, err := w.verifier.Verify(ctx, c.Task, c.Trajectory.ID, c.Trajectory.Attempt, c.Limits, c.Patch)
			w.traces.Regraded(c, begun, verdict, err)
			return verdict, err
		}})
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, mixer.NewWorker(w.mixers()...))
	river.AddWorker(workers, shard.NewWorker(exporter))
	river.AddWorker(workers, webhook.NewWorker(webhook.Config{Store: w.db.Store, Now: w.db.Clock().Now,
		Secret: policy.Secrets{Dir: w.flags.Secrets}.Find, Transport: w.rule.Transport(), Log: w.log, Version: version}))
	labeller.AddWorkers(workers, labels)
	worker.AddRegrader(workers, regrader)
	queues := exportQueues(exporter, map[string]river.QueueConfig{
		"label":          {MaxWorkers: labelsAtOnce},
		store.QueueJudge: {MaxWorkers: judgingsAtOnce},
		"webhook":        {MaxWorkers: webhooksAtOnce},
	})
	if w.flags.Rollouts > 0 {
		queues[relabel.Repair.Queue()] = river.QueueConfig{MaxWorkers: rollouts}
		queues[store.QueueRegrade] = river.QueueConfig{MaxWorkers: regradesAtOnce}
	}
	if w.searches != nil {
		queues[relabel.Localise.Queue()] = river.QueueConfig{MaxWorkers: w.flags.Searches}
	}
	return worker.NewQueue(w.db.Store, w.db.Clock(), w.me.Name, workers, queues)
}

// environment returns the environment of the mixer.
func (w *work) environment() mixer.Environment {
	return mixer.Environment{
		Start: func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
			return scaffold.Start(ctx, w.host, c)
		},
		Parse: parseAction,
		Cut:   func(c relabel.Claim) string { return scaffold.Cut(c.Run) },
		Verify: func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
			if c.Task.Kind == relabel.Terminal {
				return reward.Grade(patch), nil // the tests ran at the end of the rollout
			}
			return w.verifier.Verify(ctx, c.Task, c.TrajectoryID, c.Attempt, c.Run.Limits, patch)
		},
		Policy: func(p relabel.Policy) (mixer.Policy, error) { return w.policies.Open(p) },
		Count:  w.policies.count,
		EngineFailed: func(ctx context.Context, name string, err error) bool {
			return errors.Is(err, envs.ErrEngine) || !w.host.Well(ctx, name)
		},
		Down: w.policies.Down,
	}
}

// parseAction classifies an action at a state of a claim's run.
func parseAction(c relabel.Claim, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
	return scaffold.Parse(c.Run, state, action)
}

// services returns the services beside the queue, recovery among them. rollouts is the number of
// trajectories whose images are pulled ahead.
func (w *work) services(rollouts int) (*worker.Recovery, []worker.Service, error) {
	recovery, err := worker.NewRecovery(worker.RecoveryConfig{Store: w.db.Store, TakenOver: w.metrics.TookOver, Log: w.log,
		Self: func() relabel.Worker { return w.Self() }})
	if err != nil {
		return nil, nil, err
	}
	reaper, err := worker.NewReaper(worker.ReaperConfig{Activity: w.activity, Live: w.db.LiveAttempts,
		Remove: w.reap, Log: w.log})
	if err != nil {
		return nil, nil, err
	}
	endpoints, err := worker.NewEndpoints(worker.EndpointsConfig{Watch: w.policies.options.Endpoints.Watch,
		Read: w.statuses, Wake: w.db.BalanceWakeups, Log: w.log,
		Publish: func(ctx context.Context, statuses []relabel.EndpointStatus) error {
			return w.db.SeeEndpoints(ctx, w.me.Name, statuses)
		}})
	if err != nil {
		return nil, nil, err
	}
	retention, err := worker.NewRetention(worker.RetentionConfig{Store: w.db.Store, Events: w.flags.KeepEvents,
		Calls: w.flags.KeepCalls, Audits: w.flags.KeepAudit, CodeRecords: int64(w.flags.CodeRecordsSize), Log: w.log})
	if err != nil {
		return nil, nil, err
	}
	ahead := rollouts
	if w.flags.ImageBudget > 0 {
		ahead = max(rollouts, budgetedAhead)
	}
	images, err := worker.NewPrefetch(worker.PrefetchConfig{Trajectories: ahead, NextImages: w.db.NextImages,
		MakeRoom: w.host.MakeRoom, Pull: w.host.EnsureImage, Log: w.log,
		Idle: func(ctx context.Context) bool { return w.Draining() || w.capacity.Check(ctx) != nil }})
	if err != nil {
		return nil, nil, err
	}
	modes, err := worker.NewFailureModes(worker.FailureModesConfig{Store: w.db.Store, Log: w.log})
	if err != nil {
		return nil, nil, err
	}
	watch, err := worker.NewWeightWatch(worker.WeightWatchConfig{Store: w.db.Store, Log: w.log,
		Fingerprints: w.weightsBy(w.flags.Secrets).Fingerprints})
	if err != nil {
		return nil, nil, err
	}
	activity := worker.Task{Period: 2 * time.Second, Run: w.showActivity, Failure: "cannot publish worker activity", Log: w.log}
	budget := worker.Task{Period: time.Minute, Delayed: true, Run: w.host.Tidy,
		Failure: "cannot remove images over the budget", Log: w.log}
	checks := worker.ImageChecks{Store: w.db.Store, Describe: w.host.Describe, Log: w.log,
		Ready: func() bool { return rollouts > 0 && !w.Draining() && w.host.Answers() }}
	services := []worker.Service{w.capacity.Disk, recovery, reaper, activity.Service(), endpoints, retention, images, modes, watch, budget.Service(), checks.Service()}
	return recovery, services, nil
}

// showActivity publishes what this process does.
func (w *work) showActivity(ctx context.Context) error {
	return w.db.ShowActivity(ctx, w.me.Name, relabel.WorkerActivity{Rollouts: w.activity(), Endpoints: w.metrics.Endpoints.List()})
}

func (w *work) reap(ctx context.Context, keep func(worker.Sandbox) bool) ([]string, error) {
	return w.host.Reap(ctx, func(l envs.Labels) bool {
		return keep(worker.Sandbox{Trajectory: l.Trajectory, Attempt: l.Attempt,
			Validation: l.Purpose == "validate", Deadline: l.Deadline})
	})
}

// statuses returns the status of each endpoint that answers or is down.
func (w *work) statuses() (statuses []relabel.EndpointStatus) {
	for _, of := range w.policies.options.Endpoints.Standings() {
		w.metrics.Endpoints.Down(of.URL, of.Down)
		if of.Down != "" || of.Alive {
			statuses = append(statuses, relabel.EndpointStatus{URL: of.URL, Down: of.Down})
		}
	}
	return statuses
}
