package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestWorkersAreSeenUntilTheyEnd(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	see := func(name, machine string, state relabel.WorkerState) {
		t.Helper()
		must(t, s.SeeWorker(ctx, relabel.Worker{Name: name, Machine: machine, Process: 7, DockerHosts: []string{"unix:///a", "ssh://b"},
			Rollouts: 4, Prefetch: 1, Version: "v", State: state}))
	}
	see("b", "two", "")
	see("a", "one", "")
	see("a", "one", relabel.WorkerDraining)
	see("killed", "one", "")
	see("silent", "three", "")
	see("forgotten", "three", "")
	storetest.Claim(t, s, d.Trajectories[0].ID, "a")
	storetest.Claim(t, s, d.Trajectories[1].ID, "a")
	exec(t, s, "UPDATE workers SET seen_at = seen_at - interval '1 minute' WHERE name = 'silent'")
	exec(t, s, "UPDATE workers SET seen_at = seen_at - interval '2 days' WHERE name = 'forgotten'")
	_, err := s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "killed" })
	must(t, err)
	see("b", "two", "")
	workers, err := s.ListWorkers(ctx)
	must(t, err)
	if len(workers) != 3 {
		t.Fatalf("workers: %+v", workers)
	}
	for i, want := range []struct {
		name  string
		state relabel.WorkerState
		held  int
	}{{"a", relabel.WorkerDraining, 2}, {"silent", relabel.WorkerSilent, 0}, {"b", relabel.WorkerWorking, 0}} {
		w := workers[i]
		if w.Name != want.name || w.State != want.state || w.Held != want.held || len(w.DockerHosts) != 2 || w.Process != 7 || w.StartedAt.After(w.SeenAt) && w.Name != "silent" {
			t.Errorf("worker: %+v, want %+v", w, want)
		}
	}
	must(t, s.ForgetWorker(ctx, "b"))
	if workers, err = s.ListWorkers(ctx); err != nil || len(workers) != 2 {
		t.Errorf("%v, workers: %+v", err, workers)
	}
}
