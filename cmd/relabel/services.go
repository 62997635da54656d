package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs"
	"relabel/envs/fleet"
	"relabel/envs/verify"
	"relabel/mixer"
	"relabel/policy"
	"relabel/worker"
)

// regradesAtOnce is how many submissions a process grades again at once: each takes a
// container beside those of the rollouts.
const regradesAtOnce = 2

// newRegrader joins store and verifier into what grades stored submissions again.
func newRegrader(db *database, verifier *verify.Verifier, length time.Duration, owner string, free capacity, log zerolog.Logger) (*worker.Regrader, error) {
	return worker.NewRegrader(worker.RegraderConfig{Store: db.Store, Owner: owner, Lease: length, Capacity: free.check, Log: log,
		Verify: func(ctx context.Context, c relabel.RegradeClaim) (relabel.Verdict, error) {
			return verifier.Verify(ctx, c.Task, c.Trajectory.ID, c.Trajectory.Attempt, c.Limits, c.Patch)
		}})
}

// newDeletions finishes deletions of large runs in a process that serves.
func newDeletions(db *database, log zerolog.Logger) (*worker.Deletions, error) {
	return worker.NewDeletions(worker.DeletionsConfig{Finish: db.FinishDeletions, Log: log})
}

// services joins the services of a working process with its parts.
type services struct {
	db        *database
	host      *fleet.Fleet
	mixer     *mixer.Mixer
	endpoints *policy.Endpoints
	metrics   *metrics
	me        relabel.Worker
	log       zerolog.Logger

	worker *worker.Worker // set before a service runs
	all    []worker.Service
}

// add makes all services; prefetch is how many trajectories images are pulled for.
func (s *services) add(free capacity, f workFlags, prefetch int) (*worker.Recovery, error) {
	recovery, err := worker.NewRecovery(worker.RecoveryConfig{Store: s.db.Store, Self: func() relabel.Worker { return s.self(s.worker.Draining()) },
		Requeue: s.requeue, TakenOver: func(n int) { s.metrics.takeovers.Add(float64(n)) }, Log: s.log})
	if err != nil {
		return nil, err
	}
	reaper, err := worker.NewReaper(worker.ReaperConfig{Held: s.held, Live: s.db.LiveAttempts, Remove: s.reap, Log: s.log})
	if err != nil {
		return nil, err
	}
	activity, err := worker.NewActivity(worker.ActivityConfig{Read: s.activity, Log: s.log,
		Publish: func(ctx context.Context, a relabel.WorkerActivity) error { return s.db.ShowActivity(ctx, s.me.Name, a) }})
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
		Idle: func(ctx context.Context) bool { return s.worker.Draining() || free.check(ctx) != nil }})
	if err != nil {
		return nil, err
	}
	budget, err := worker.NewImageBudget(worker.ImageBudgetConfig{Tidy: s.host.Tidy, Log: s.log})
	if err != nil {
		return nil, err
	}
	s.all = []worker.Service{free.disk, recovery, reaper, activity, endpoints, retention, images, budget}
	return recovery, nil
}

func (s *services) newEndpoints() (*worker.Endpoints, error) {
	return worker.NewEndpoints(worker.EndpointsConfig{Watch: s.endpoints.Watch, Read: s.statuses, Wake: s.db.BalanceWakeups, Log: s.log,
		Publish: func(ctx context.Context, statuses []relabel.EndpointStatus) error {
			return s.db.SeeEndpoints(ctx, s.me.Name, statuses)
		}})
}

// self is this process as other processes see it.
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
	recovered, err := requeue(ctx, isGone)
	takeovers := make([]worker.Takeover, len(recovered))
	for i, r := range recovered {
		takeovers[i] = worker.Takeover{TrajectoryID: r.TrajectoryID, Attempt: r.Attempt, Owner: r.Owner}
	}
	return takeovers, err
}

// held is the attempt of each trajectory that this process holds.
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

func (s *services) activity() relabel.WorkerActivity {
	return relabel.WorkerActivity{Rollouts: s.mixer.Activity(), Endpoints: s.metrics.endpoints.list()}
}

// statuses are those of the endpoints that answer or are down.
func (s *services) statuses() (statuses []relabel.EndpointStatus) {
	standings := s.endpoints.Standings()
	s.metrics.endpoints.stand(standings)
	for _, of := range standings {
		if of.Down != "" || of.Alive {
			statuses = append(statuses, relabel.EndpointStatus{URL: of.URL, Down: of.Down})
		}
	}
	return statuses
}
