package cli

import (
	"context"
	"time"

	"relabel"
)

// HealthCommand is `relabel health`.
type HealthCommand struct {
	Address string `arg:"" optional:"" default:"http://127.0.0.1:7788" help:"Address of a server, or of a worker's --metrics. Default: ${default}."`
}

// healthTime bounds a check.
const healthTime = 5 * time.Second

// Run fails unless the process answers.
func (c *HealthCommand) Run(ctx context.Context) error {
	cl, err := Open(c.Address, "", "address")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	if _, err := cl.Live(ctx); err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "%s does not answer as relabel does", c.Address).Because(err)
	}
	return nil
}
