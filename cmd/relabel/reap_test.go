package main

import (
	"context"
	"testing"
	"time"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/faketest"
	"relabel/envs/fleet"
	"relabel/store/localpg"
	"relabel/store/storetest"
)

// stuck is an engine that hangs when it is to remove what was left behind.
type stuck struct {
	*faketest.Host
	asked chan struct{} // gets a value each time
}

func (s stuck) Reap(ctx context.Context, _ func(envs.Labels) bool) ([]string, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnEngineThatHangsDuringRemovalDoesNotDelayTakeovers(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	abandoned := storetest.Claim(t, s, d.Trajectories[0].ID, "another")
	_, err := s.PauseRun(ctx, d.Run.ID, relabel.PausedByUser, "so that nobody claims it anew")
	noError(t, err)
	engine := stuck{faketest.NewHost(t.TempDir()), make(chan struct{}, 100)}
	host, err := fleet.New(ctx, fleet.Config{Members: []fleet.Member{{Engine: engine}}})
	noError(t, err)
	flags := cli.WorkFlags{Rollouts: 1, Lease: time.Minute, RetentionFlags: cli.RetentionFlags{KeepEvents: time.Hour}, ImageFlags: cli.ImageFlags{Silence: time.Minute, Pulls: 1}}
	p, err := openProcess(&localpg.Database{Store: s}, t.TempDir(), cli.ResourceFlags{}, quietLog())
	noError(t, err)
	w, err := p.startWorkOn(ctx, host, nil, flags)
	noError(t, err)
	defer func() { noError(t, w.Stop(context.Background())) }()
	<-engine.asked
	_, err = s.Pool().Exec(ctx, "UPDATE trajectories SET lease_until = clock_timestamp() WHERE id = $1", abandoned.TrajectoryID)
	noError(t, err)
	eventually(t, "what another abandoned is taken back", func() bool {
		tr, err := s.FindTrajectory(ctx, abandoned.TrajectoryID)
		noError(t, err)
		return tr.State == relabel.Queued
	})
}
