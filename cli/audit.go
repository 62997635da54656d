package cli

import (
	"context"
	"net/url"
	"time"
)

// AuditCommand is `relabel audit`.
type AuditCommand struct {
	ClientFlags
	Who      string        `name:"token-name" placeholder:"NAME" help:"Only changes by the token with this name or id."`
	Resource string        `placeholder:"ID|NAME" help:"Only changes of the run, iteration, export … with this id, or of the run, task set, policy, tokenizer or token with this name."`
	Since    time.Duration `placeholder:"DURATION" help:"Only entries of this last period, e.g. 24h. Default: all stored entries."`
}

// Run prints the log, newest first.
func (c *AuditCommand) Run(ctx context.Context) error {
	query := url.Values{}
	if c.Who != "" {
		query.Set("token_name", c.Who)
	}
	if c.Resource != "" {
		query.Set("resource", c.Resource)
	}
	if c.Since > 0 {
		query.Set("since", time.Now().Add(-c.Since).UTC().Format(time.RFC3339))
	}
	return c.With(ctx, func(cl *Session) error {
		entries, err := cl.Audit(ctx, query)
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
