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
}

// Check fails with CodeUnavailable while no new work can begin.
func (c Capacity) Check(ctx context.Context) error {
	if err := c.Disk.Check(); err != nil {
		return err
	}
	return c.Fleet.Room(ctx)
}

// Ready reports on the engines and the disk. One working engine is enough.
func (c Capacity) Ready(ctx context.Context) []api.Check {
	c.Fleet.Look(ctx)
	engines := api.Check{Name: "docker", OK: c.Fleet.Room(ctx) == nil}
	for _, e := range c.Fleet.Health() {
		if e.Problem != "" {
			engines.Detail += fmt.Sprintf("%s: %s. ", e.Name, e.Problem)
		}
	}
	disk := api.Check{Name: "disk", OK: true}
	if err := c.Disk.Check(); err != nil {
		disk = api.Check{Name: "disk", Detail: publicText(err)}
	}
	return []api.Check{engines, disk}
}
