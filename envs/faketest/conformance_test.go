package faketest_test

import (
	"context"
	"testing"

	"relabel/envs"
	"relabel/envs/envstest"
	"relabel/envs/faketest"
)

func TestTheFakeConformsToTheContractOfHost(t *testing.T) {
	envstest.Run(t, func(t testing.TB) envs.Host {
		host := faketest.NewHost(t.TempDir(), "image")
		t.Cleanup(func() {
			if _, err := host.Reap(context.Background(), func(envs.Labels) bool { return false }); err != nil {
				t.Error(err)
			}
		})
		return host
	}, "image")
}
