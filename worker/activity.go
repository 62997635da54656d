package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// activityPeriod is the time between two updates.
const activityPeriod = 2 * time.Second

// ActivityConfig is what an Activity needs.
type ActivityConfig struct {
	Read    func() relabel.WorkerActivity // what this process does now
	Publish func(ctx context.Context, a relabel.WorkerActivity) error
	Log     zerolog.Logger
}

// Activity publishes what this process does.
type Activity struct {
	ActivityConfig
	periodic
}

// NewActivity returns an Activity.
func NewActivity(c ActivityConfig) (*Activity, error) {
	a := &Activity{ActivityConfig: c}
	a.periodic = periodic{period: activityPeriod, run: a.RunNow, failure: "cannot publish worker activity", log: c.Log}
	return a, require("activity", requirement{"Read", c.Read != nil}, requirement{"Publish", c.Publish != nil})
}

// RunNow publishes once.
func (a *Activity) RunNow(ctx context.Context) error { return a.Publish(ctx, a.Read()) }
