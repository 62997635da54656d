package fleet_test

import (
	"context"
	"testing"

	"relabel/envs"
	"relabel/envs/envstest"
	"relabel/envs/faketest"
	"relabel/envs/fleet"
)

// newFleet makes a fleet that is closed with the test.
func newFleet(t testing.TB, c fleet.Config) *fleet.Fleet {
	t.Helper()
	f, err := fleet.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// newFake makes a fake engine that is reaped with the test.
func newFake(t testing.TB, name string, images ...string) *faketest.Host {
	host := faketest.NewHost(t.TempDir(), images...)
	host.Label = name
	t.Cleanup(func() {
		host.SetFaults(faketest.Faults{})
		if _, err := host.Reap(context.Background(), func(envs.Labels) bool { return false }); err != nil {
			t.Error(err)
		}
	})
	return host
}

// The engines are fakes, because a fleet only forwards calls of a sandbox. engines_test.go has real ones.
func TestAFleetConformsToTheContractOfHost(t *testing.T) {
	t.Parallel()
	envstest.Run(t, func(t testing.TB) envs.Host {
		return newFleet(t, fleet.Config{Members: []fleet.Member{
			{Engine: newFake(t, "a", "image"), Slots: 2}, {Engine: newFake(t, "b", "image"), Slots: 2},
		}})
	}, "image")
}
