package worker

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
)

// EngineFleet is the Docker engines of this process.
type EngineFleet interface {
	// Look checks all engines now.
	Look(ctx context.Context)
	// Room fails with CodeUnavailable if no engine gets new sandboxes.
	Room(ctx context.Context) error
	// Health returns the state of each engine at its last check.
	Health() []relabel.Engine
}

// Capacity reports whether new work can begin: an engine works and the disk has space.
type Capacity struct {
	Fleet EngineFleet
	Disk  *DiskGuard
	// Searches says that the process can work without an engine too, NoRepairs that it does not use one.
	Searches, NoRepairs bool
}

// Check fails with CodeUnavailable while no new work in containers can begin.
func (c Capacity) Check(ctx context.Context) error {
	if err := c.Disk.Check(); err != nil {
		return err
	}
	return c.Fleet.Room(ctx)
}

// Ready reports on the engines and the disk. One working engine is enough.
func (c Capacity) Ready(ctx context.Context) []api.Check {
	disk := api.Check{Name: "disk", OK: true}
	if err := c.Disk.Check(); err != nil {
		disk = api.Check{Name: "disk", Detail: publicText(err)}
	}
	if c.NoRepairs {
		return []api.Check{disk}
	}
	return []api.Check{c.engines(ctx), disk}
}

// engines reports on the engines.
func (c Capacity) engines(ctx context.Context) api.Check {
	c.Fleet.Look(ctx)
	engines := api.Check{Name: "docker", OK: c.Fleet.Room(ctx) == nil, Optional: c.Searches}
	for _, e := range c.Fleet.Health() {
		if e.Problem != "" {
			engines.Detail += fmt.Sprintf("%s: %s. ", e.Name, e.Problem)
		}
	}
	if !engines.OK && c.Searches {
		engines.Detail += "Tasks to repair wait; tasks to localise are rolled out."
	}
	return engines
}
