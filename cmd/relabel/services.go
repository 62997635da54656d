package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/fleet"
	"relabel/envs/verify"
	"relabel/mixer"
	"relabel/policy"
	"relabel/worker"
)

// regradesAtOnce is the number of submissions that a process regrades at once. Each needs a
// container.
const regradesAtOnce = 2

// newRegrader returns what regrades stored submissions.
func newRegrader(db *database, verifier *verify.Verifier, length time.Duration, owner string, capacity worker.Capacity, log zerolog.Logger) (*worker.Regrader, error) {
	return worker.NewRegrader(worker.RegraderConfig{Store: db.Store, Owner: owner, Lease: length, Capacity: capacity.Check, Log: log,
		Verify: func(ctx context.Context, c relabel.RegradeClaim) (relabel.Verdict, error) {
			return verifier.Verify(ctx, c.Task, c.Trajectory.ID, c.Trajectory.Attempt, c.Limits, c.Patch)
		}})
}

// startDeletions finishes deletions of large runs, which requests began, until stop.
func startDeletions(ctx context.Context, db *database, log zerolog.Logger) (stop func()) {
	s := worker.Task{Period: 5 * time.Second, Run: db.FinishDeletions, Failure: "deleting a run failed; it is retried", Log: log}.Service()
	s.Start(ctx)
	return s.Stop
}

// services creates the services of a working process.
type services struct {
	db        *database
	host      *fleet.Fleet
	mixer     *mixer.Mixer
	endpoints *policy.Endpoints
	metrics   *worker.Metrics
	me        relabel.Worker
	log       zerolog.Logger

	worker *worker.Worker // set before a service runs
	all    []worker.Service
}

// add creates all services. prefetch is the number of trajectories whose images are pulled.
func (s *services) add(capacity worker.Capacity, f cli.WorkFlags, prefetch int) (*worker.Recovery, error) {
	recovery, err := worker.NewRecovery(worker.RecoveryConfig{Store: s.db.Store, Self: func() relabel.Worker { return s.self(s.worker.Draining()) },
		Requeue: s.requeue, TakenOver: s.metrics.TookOver, Log: s.log})
	if err != nil {
		return nil, err
	}
	reaper, err := worker.NewReaper(worker.ReaperConfig{Held: s.held, Live: s.db.LiveAttempts, Remove: s.reap, Log: s.log})
	if err != nil {
		return nil, err
	}
	endpoints, err := s.newEndpoints()
	if err != nil {
		return nil, err
	}
	retention, err := worker.NewRetention(worker.RetentionConfig{Store: s.db.Store, Events: f.KeepEvents, Calls: f.KeepCalls, Audits: f.KeepAudit, Log: s.log})
	if err != nil {
		return nil, err
	}
	images, err := worker.NewPrefetch(worker.PrefetchConfig{Trajectories: prefetch, NextImages: s.db.NextImages, Pull: s.host.EnsureImage, Log: s.log,
		Idle: func(ctx context.Context) bool { return s.worker.Draining() || capacity.Check(ctx) != nil }})
	if err != nil {
		return nil, err
	}
	activity := worker.Task{Period: 2 * time.Second, Run: s.showActivity, Failure: "cannot publish worker activity", Log: s.log}
	budget := worker.Task{Period: time.Minute, Delayed: true, Run: s.host.Tidy, Failure: "cannot remove images over the budget", Log: s.log}
	s.all = []worker.Service{capacity.Disk, recovery, reaper, activity.Service(), endpoints, retention, images, budget.Service()}
	return recovery, nil
}

func (s *services) newEndpoints() (*worker.Endpoints, error) {
	return worker.NewEndpoints(worker.EndpointsConfig{Watch: s.endpoints.Watch, Read: s.statuses, Wake: s.db.BalanceWakeups, Log: s.log,
		Publish: func(ctx context.Context, statuses []relabel.EndpointStatus) error {
			return s.db.SeeEndpoints(ctx, s.me.Name, statuses)
		}})
}

// self returns this process as other processes see it.
func (s *services) self(draining bool) relabel.Worker {
	me := s.me
	me.DockerHosts = nil
	for _, h := range s.host.Health() {
		name := h.Name
		if h.Problem != "" {
			name += " (out: " + h.Problem + ")"
		}
		me.DockerHosts = append(me.DockerHosts, name)
	}
	if draining {
		me.State = relabel.WorkerDraining
	}
	return me
}

// requeue requeues what dead workers left.
func (s *services) requeue(ctx context.Context, expired bool) ([]worker.Takeover, error) {
	requeue := s.db.RecoverGone
	if expired {
		requeue = s.db.RecoverAbandoned
	}
	recovered, err := requeue(ctx, worker.IsGone)
	takeovers := make([]worker.Takeover, len(recovered))
	for i, r := range recovered {
		takeovers[i] = worker.Takeover{TrajectoryID: r.TrajectoryID, Attempt: r.Attempt, Owner: r.Owner}
	}
	return takeovers, err
}

// held returns the attempt of each trajectory that this process holds.
func (s *services) held() map[relabel.ID]int {
	held := map[relabel.ID]int{}
	for _, a := range s.mixer.Activity() {
		held[a.TrajectoryID] = a.Attempt
	}
	return held
}

func (s *services) reap(ctx context.Context, keep func(worker.Sandbox) bool) ([]string, error) {
	return s.host.Reap(ctx, func(l envs.Labels) bool {
		return keep(worker.Sandbox{Trajectory: l.Trajectory, Attempt: l.Attempt, Validation: l.Purpose == "validate", Deadline: l.Deadline})
	})
}

// showActivity publishes what this process does.
func (s *services) showActivity(ctx context.Context) error {
	return s.db.ShowActivity(ctx, s.me.Name, relabel.WorkerActivity{Rollouts: s.mixer.Activity(), Endpoints: s.metrics.Endpoints.List()})
}

// statuses returns the status of each endpoint that answers or is down.
func (s *services) statuses() (statuses []relabel.EndpointStatus) {
	for _, of := range s.endpoints.Standings() {
		s.metrics.Endpoints.Down(of.URL, of.Down)
		if of.Down != "" || of.Alive {
			statuses = append(statuses, relabel.EndpointStatus{URL: of.URL, Down: of.Down})
		}
	}
	return statuses
}
