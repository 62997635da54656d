package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// deletionPeriod is the time between two searches for unfinished deletions.
const deletionPeriod = 5 * time.Second

// DeletionsConfig is what a Deletions needs.
type DeletionsConfig struct {
	// Finish continues the deletions of runs that a request began and did not finish.
	Finish func(ctx context.Context) error
	Log    zerolog.Logger
}

// Deletions finishes deletions of large runs.
type Deletions struct {
	DeletionsConfig
	periodic
}

// NewDeletions returns a Deletions.
func NewDeletions(c DeletionsConfig) (*Deletions, error) {
	d := &Deletions{DeletionsConfig: c}
	d.periodic = periodic{period: deletionPeriod, run: d.RunNow, failure: "deleting a run failed; it is retried", log: c.Log}
	return d, require("deletions", requirement{"Finish", c.Finish != nil})
}

// RunNow continues deletions once.
func (d *Deletions) RunNow(ctx context.Context) error { return d.Finish(ctx) }
