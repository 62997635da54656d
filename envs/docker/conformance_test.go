package docker_test

import (
	"testing"

	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

func TestDockerConformsToTheContractOfHost(t *testing.T) {
	t.Parallel()
	envstest.Run(t, func(t testing.TB) envs.Host { return dockertest.NewHost(t) }, envstest.Image(t))
}
