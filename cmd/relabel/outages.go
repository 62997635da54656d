package main

import (
	"relabel"
	"relabel/policy"
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

// stand notes which endpoints are down, for those that were asked.
func (e *endpoints) stand(standings []policy.Standing) {
	for _, s := range standings {
		e.change(s.URL, func(a *relabel.EndpointActivity) { a.Down = s.Down })
	}
}
