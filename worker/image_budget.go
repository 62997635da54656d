package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// imageBudgetPeriod is the time between two checks of the disk space that images use.
const imageBudgetPeriod = time.Minute

// ImageBudgetConfig is what an ImageBudget needs.
type ImageBudgetConfig struct {
	// Tidy removes the least recently used images over the budget from each engine.
	Tidy func(ctx context.Context) error
	Log  zerolog.Logger
}

// ImageBudget removes pulled images that exceed the budget.
type ImageBudget struct {
	ImageBudgetConfig
	periodic
}

// NewImageBudget returns an ImageBudget.
func NewImageBudget(c ImageBudgetConfig) (*ImageBudget, error) {
	b := &ImageBudget{ImageBudgetConfig: c}
	b.periodic = periodic{period: imageBudgetPeriod, delayed: true, run: b.RunNow, failure: "cannot remove images over the budget", log: c.Log}
	return b, require("image budget", requirement{"Tidy", c.Tidy != nil})
}

// RunNow removes images over the budget once.
func (b *ImageBudget) RunNow(ctx context.Context) error { return b.Tidy(ctx) }
