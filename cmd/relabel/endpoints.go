package main

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/policy"
)

// endpoints know how the endpoints of this process stand, as they tell.
type endpoints struct {
	mu  sync.Mutex
	all map[string]*relabel.EndpointActivity
}

// change changes what is known of one.
func (e *endpoints) change(url string, do func(*relabel.EndpointActivity)) {
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

// ofEndpoints are told by the policies' endpoints how they stand.
func (m *metrics) ofEndpoints(log zerolog.Logger) policy.Observe {
	say := logBreaker(log)
	return policy.Observe{
		InFlight: func(url string, calls, limit int) {
			m.endpoints.change(url, func(a *relabel.EndpointActivity) { a.InFlight, a.Limit = calls, limit })
		},
		Waiting: func(url string, act, raised, label int) {
			m.endpoints.change(url, func(a *relabel.EndpointActivity) {
				a.WaitingActs, a.WaitingRaised, a.WaitingLabels = act, raised, label
			})
		},
		Breaker: func(url string, down error) {
			say(url, down)
			m.endpoints.change(url, func(a *relabel.EndpointActivity) {
				if a.Down = ""; down != nil {
					a.Down = plainly(down)
				}
			})
		},
		Tried: m.tried,
	}
}

// plainly is an error without its cause, which is for the log alone.
func plainly(err error) string {
	var known *relabel.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return "it does not answer"
}

// tried counts an HTTP request.
func (m *metrics) tried(_ string, t policy.Try) {
	m.calls.WithLabelValues(t.Policy, string(t.Purpose), t.Outcome).Observe(t.Took.Seconds())
	m.waits.WithLabelValues(t.Policy, string(t.Purpose)).Observe(t.Queued.Seconds())
	if t.After != "" {
		m.retries.WithLabelValues(t.Policy, t.After).Inc()
	}
	if t.Usage != nil {
		m.tokens.WithLabelValues(t.Policy, "prompt").Add(float64(max(t.Usage.PromptTokens, 0)))
		m.tokens.WithLabelValues(t.Policy, "cached").Add(float64(max(t.Usage.CachedTokens, 0)))
		m.tokens.WithLabelValues(t.Policy, "completion").Add(float64(max(t.Usage.CompletionTokens, 0)))
	}
}

// list lists them by URL.
func (e *endpoints) list() []relabel.EndpointActivity {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]relabel.EndpointActivity, 0, len(e.all))
	for _, url := range slices.Sorted(maps.Keys(e.all)) {
		list = append(list, *e.all[url])
	}
	return list
}

var (
	descInFlight = prometheus.NewDesc("relabel_endpoint_calls_in_flight", "Calls in flight from this process.", []string{"endpoint"}, nil)
	descLimit    = prometheus.NewDesc("relabel_endpoint_calls_limit", "Calls that may be in flight from this process by now.", []string{"endpoint"}, nil)
	descWaiting  = prometheus.NewDesc("relabel_endpoint_calls_waiting", "Calls of this process that wait for a place, by urgency.", []string{"endpoint", "urgency"}, nil)
	descUp       = prometheus.NewDesc("relabel_endpoint_up", "0 while the endpoint is taken to be down.", []string{"endpoint"}, nil)
)

// Describe lists what Collect gives.
func (e *endpoints) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descInFlight, descLimit, descWaiting, descUp} {
		to <- d
	}
}

// Collect gives how they stand now.
func (e *endpoints) Collect(to chan<- prometheus.Metric) {
	for _, a := range e.list() {
		gauge := func(d *prometheus.Desc, v int, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), append([]string{a.URL}, labels...)...)
		}
		gauge(descInFlight, a.InFlight)
		gauge(descLimit, a.Limit)
		gauge(descWaiting, a.WaitingActs, "act")
		gauge(descWaiting, a.WaitingRaised, "raised")
		gauge(descWaiting, a.WaitingLabels, "label")
		up := 1
		if a.Down != "" {
			up = 0
		}
		gauge(descUp, up)
	}
}
