package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

const (
	endpointsPeriod  = 200 * time.Millisecond // between two looks at the endpoints
	endpointsRefresh = 5 * time.Second        // between two updates of statuses that did not change
)

// EndpointsConfig is what an Endpoints needs.
type EndpointsConfig struct {
	// Watch probes endpoints that do not answer, until ctx ends.
	Watch func(ctx context.Context)
	// Read returns the status of each endpoint that answers or is down.
	Read func() []relabel.EndpointStatus
	// Publish stores the statuses that this process sees.
	Publish func(ctx context.Context, statuses []relabel.EndpointStatus) error
	// Wake creates and removes wake-ups after an endpoint went down or came back.
	Wake func(ctx context.Context) error
	Log  zerolog.Logger
}

// Endpoints publishes which endpoints are down, so that no worker claims work that needs one.
type Endpoints struct {
	EndpointsConfig
	periodic
	watch     sync.WaitGroup
	endWatch  context.CancelFunc
	published []relabel.EndpointStatus
	at        time.Time
}

// NewEndpoints returns an Endpoints.
func NewEndpoints(c EndpointsConfig) (*Endpoints, error) {
	e := &Endpoints{EndpointsConfig: c}
	e.periodic = periodic{Task: Task{Period: endpointsPeriod, Delayed: true, Run: e.RunNow, Failure: "cannot publish which endpoints are down", Log: c.Log}}
	return e, require("endpoints", requirement{"Watch", c.Watch != nil}, requirement{"Read", c.Read != nil}, requirement{"Publish", c.Publish != nil}, requirement{"Wake", c.Wake != nil})
}

// Start also watches the endpoints.
func (e *Endpoints) Start(ctx context.Context) {
	e.periodic.Start(ctx)
	ctx, e.endWatch = context.WithCancel(context.WithoutCancel(ctx))
	e.watch.Go(func() { e.Watch(ctx) })
}

// Stop ends the service and its watch.
func (e *Endpoints) Stop() {
	e.periodic.Stop()
	if e.endWatch != nil {
		e.endWatch()
	}
	e.watch.Wait()
}

// RunNow publishes the statuses if they changed or are due. It must not be called while the
// service runs.
func (e *Endpoints) RunNow(ctx context.Context) error {
	statuses := e.Read()
	if slices.Equal(statuses, e.published) && (len(statuses) == 0 || time.Since(e.at) < endpointsRefresh) {
		return nil
	}
	changed := !slices.Equal(downURLs(statuses), downURLs(e.published))
	if err := e.Publish(ctx, statuses); err != nil {
		return err
	}
	e.published, e.at = statuses, time.Now()
	if !changed {
		return nil
	}
	return e.Wake(ctx)
}

func downURLs(statuses []relabel.EndpointStatus) (urls []string) {
	for _, s := range statuses {
		if s.Down != "" {
			urls = append(urls, s.URL)
		}
	}
	return urls
}
