package cli

import (
	"context"
	"relabel/api"
	"relabel/api/client"
	"time"
)

// AuditCommand is `relabel audit`.
type AuditCommand struct {
	ClientFlags
	api.AuditQuery
	Since time.Duration `placeholder:"DURATION" help:"Only entries of this last period, e.g. 24h. Default: all stored entries."`
}

// Run prints the log, newest first.
func (c *AuditCommand) Run(ctx context.Context) error {
	query := c.AuditQuery
	if c.Since > 0 {
		query.Since = time.Now().Add(-c.Since)
	}
	return c.With(ctx, func(cl *Session) error {
		entries, err := cl.Audit(ctx, client.Values(query))
		if err != nil {
			return err
		}
		t := NewTable("AT", "ACTOR", "TOKEN", "FROM", "OPERATION", "RESOURCE", "STATUS", "MORE", "PATH")
		for _, e := range entries {
			t.Row(e.CreatedAt.Format("2006-01-02 15:04:05"), e.Actor, oneLine(e.Token), e.Address, e.Operation, oneLine(e.Resource), e.Status, e.More, oneLine(e.Path))
		}
		return t.Print()
	})
}
