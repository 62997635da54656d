package main

import (
	"context"
	"slices"
	"time"

	"relabel"
	"relabel/policy"
)

const (
	outagePeriod = 200 * time.Millisecond // between looks at how the endpoints stand
	statusPeriod = 5 * time.Second        // between two words to the others on what has not changed
)

// down says whether none of a policy's addresses is to be had; see policy.Client.Down.
func (p *policies) down(def relabel.Policy) (why string, changed <-chan struct{}) {
	p.mu.Lock()
	c := p.clients[def.ID]
	p.mu.Unlock()
	if c == nil { // nothing was asked of it yet
		return "", nil
	}
	return c.Down()
}

// outages probes endpoints that do not answer, and tells the database how all stand, so
// that no worker claims what waits for one that is down.
type outages struct {
	work *work
	said []relabel.EndpointStatus
	at   time.Time
}

// outagesLoop keeps the database told until ctx ends.
func (w *work) outagesLoop(ctx context.Context, endpoints *policy.Endpoints) {
	go endpoints.Watch(ctx)
	o := &outages{work: w}
	tick := time.NewTicker(outagePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := o.tell(ctx, endpoints.Standings()); err != nil && ctx.Err() == nil {
			w.log.Warn().Err(err).Msg("cannot publish which endpoints are down")
		}
	}
}

// tell records what has changed, and all of it now and then.
func (o *outages) tell(ctx context.Context, standings []policy.Standing) error {
	var statuses []relabel.EndpointStatus
	for _, s := range standings {
		if s.Down != "" || s.Alive {
			statuses = append(statuses, relabel.EndpointStatus{URL: s.URL, Down: s.Down})
		}
	}
	o.work.metrics.endpoints.stand(standings)
	if slices.Equal(statuses, o.said) && (len(statuses) == 0 || time.Since(o.at) < statusPeriod) {
		return nil
	}
	changed := !slices.Equal(downOf(statuses), downOf(o.said))
	if err := o.work.db.SeeEndpoints(ctx, o.work.me.Name, statuses); err != nil {
		return err
	}
	o.said, o.at = statuses, time.Now()
	if !changed {
		return nil
	}
	return o.work.db.BalanceWakeups(ctx)
}

// downOf are the addresses that are down.
func downOf(statuses []relabel.EndpointStatus) (urls []string) {
	for _, s := range statuses {
		if s.Down != "" {
			urls = append(urls, s.URL)
		}
	}
	return urls
}

// stand notes which endpoints are down, for those that were asked.
func (e *endpoints) stand(standings []policy.Standing) {
	for _, s := range standings {
		e.change(s.URL, func(a *relabel.EndpointActivity) { a.Down = s.Down })
	}
}
