package cli

import (
	"context"
	"net/http"
	"strings"
	"time"

	"relabel"
)

// HealthCommand is `relabel health`.
type HealthCommand struct {
	Address string `arg:"" optional:"" default:"http://127.0.0.1:7788" help:"Address of a server, or of a worker's --metrics. Default: ${default}."`
}

// healthTime bounds a check.
const healthTime = 5 * time.Second

// Run fails unless the process answers with status 200; the body does not matter.
func (c *HealthCommand) Run(ctx context.Context) error {
	if _, err := Open(c.Address, "", "address"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.Address, "/")+"/healthz", nil)
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "is not an address").On("address").Because(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "%s does not answer like relabel", c.Address).Because(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return relabel.Errorf(relabel.CodeUnavailable, "%s does not answer like relabel: %s", c.Address, answer.Status)
	}
	return nil
}
