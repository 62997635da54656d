package main

import (
	"context"
	"fmt"

	"relabel/api"
	"relabel/cli"
	"relabel/envs/fleet"
	"relabel/worker"
)

// capacity reports whether new work can begin: an engine works and the disk has space.
type capacity struct {
	host *fleet.Fleet
	disk *worker.DiskGuard
}

// check fails with CodeUnavailable while no new work can begin.
func (c capacity) check(ctx context.Context) error {
	if err := c.disk.Check(); err != nil {
		return err
	}
	return c.host.Room(ctx)
}

// ready reports on the engines and the disk. One working engine is enough.
func (c capacity) ready(ctx context.Context) []api.Check {
	c.host.Look(ctx)
	engines := api.Check{Name: "docker", OK: c.host.Room(ctx) == nil}
	for _, h := range c.host.Health() {
		if h.Problem != "" {
			engines.Detail += fmt.Sprintf("%s: %s. ", h.Name, h.Problem)
		}
	}
	disk := api.Check{Name: "disk", OK: true}
	if err := c.disk.Check(); err != nil {
		disk = api.Check{Name: "disk", Detail: cli.Message(err)}
	}
	return []api.Check{engines, disk}
}
