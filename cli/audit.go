package cli

import (
	"context"
	"time"

	"relabel"
	"relabel/api"
	"relabel/api/client"
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
	fetch := func(cl *Session, ctx context.Context) ([]relabel.AuditEntry, error) {
		return cl.Audit(ctx, client.Values(query))
	}
	heads := []string{"AT", "ACTOR", "TOKEN", "FROM", "OPERATION", "RESOURCE", "STATUS", "MORE", "PATH"}
	return list(ctx, c.ClientFlags, fetch, heads, func(e relabel.AuditEntry) []any {
		return []any{e.CreatedAt, e.Actor, e.Token, e.Address, e.Operation, e.Resource, e.Status, e.More, e.Path}
	})
}
