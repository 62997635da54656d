package worker

import (
	"maps"
	"slices"
	"sync"

	"relabel"
)

// EndpointActivity is what this process does at each model endpoint.
type EndpointActivity struct {
	mu  sync.Mutex
	all map[string]*relabel.EndpointActivity
}

func (e *EndpointActivity) change(url string, do func(*relabel.EndpointActivity)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[string]*relabel.EndpointActivity{}
	}
	if e.all[url] == nil {
		e.all[url] = &relabel.EndpointActivity{URL: url}
	}
	do(e.all[url])
}

// InFlight sets how many calls are in flight and how many may be.
func (e *EndpointActivity) InFlight(url string, calls, limit int) {
	e.change(url, func(a *relabel.EndpointActivity) { a.InFlight, a.Limit = calls, limit })
}

// Waiting sets how many calls wait: for actions, raised labels and other labels.
func (e *EndpointActivity) Waiting(url string, act, raised, label int) {
	e.change(url, func(a *relabel.EndpointActivity) {
		a.WaitingActs, a.WaitingRaised, a.WaitingLabels = act, raised, label
	})
}

// Down sets why an endpoint is down, "" if it is not.
func (e *EndpointActivity) Down(url, why string) {
	e.change(url, func(a *relabel.EndpointActivity) { a.Down = why })
}

// List returns the activity at all endpoints, by URL.
func (e *EndpointActivity) List() []relabel.EndpointActivity {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]relabel.EndpointActivity, 0, len(e.all))
	for _, url := range slices.Sorted(maps.Keys(e.all)) {
		list = append(list, *e.all[url])
	}
	return list
}

var (
	descInFlight = desc("relabel_endpoint_calls_in_flight", "Calls of this process in flight.", "endpoint")
	descLimit    = desc("relabel_endpoint_calls_limit", "Calls of this process that may be in flight now.", "endpoint")
	descWaiting  = desc("relabel_endpoint_calls_waiting", "Calls of this process that wait for a slot, by urgency.", "endpoint", "urgency")
	descUp       = desc("relabel_endpoint_up", "0 while the endpoint counts as down.", "endpoint")
)

func (e *EndpointActivity) gauges(set set) {
	for _, a := range e.List() {
		set(descInFlight, float64(a.InFlight), a.URL)
		set(descLimit, float64(a.Limit), a.URL)
		set(descWaiting, float64(a.WaitingActs), a.URL, "act")
		set(descWaiting, float64(a.WaitingRaised), a.URL, "raised")
		set(descWaiting, float64(a.WaitingLabels), a.URL, "label")
		up := 1.0
		if a.Down != "" {
			up = 0
		}
		set(descUp, up, a.URL)
	}
}
