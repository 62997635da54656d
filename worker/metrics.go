package worker

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"relabel"
)

// Buckets of the histograms, in seconds.
var (
	fastBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30} // writes
	slowBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}    // models, commands, sandboxes
)

// Metrics are the Prometheus metrics of this process. Each label has few values: states,
// phases, reasons, policies, endpoints; never a trajectory.
type Metrics struct {
	// Endpoints shows what this process does at model endpoints.
	Endpoints *EndpointActivity

	registry  *prometheus.Registry
	turns     *prometheus.CounterVec
	labels    *prometheus.CounterVec
	commits   prometheus.Histogram
	starts    *prometheus.HistogramVec
	execs     prometheus.Histogram
	replays   *prometheus.CounterVec
	replayed  prometheus.Counter
	failures  *prometheus.CounterVec
	spent     *prometheus.CounterVec
	takeovers prometheus.Counter
	calls     *prometheus.HistogramVec
	waits     *prometheus.HistogramVec
	retries   *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	cost      *prometheus.CounterVec
}

// NewMetrics returns the metrics of a process, with those of Go and of the process itself.
func NewMetrics(version string) *Metrics {
	registry := prometheus.NewRegistry()
	auto := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		Endpoints: &EndpointActivity{},
		registry:  registry,
		turns:     counter("relabel_turns_total", "Turns that were committed.", "executor"),
		labels:    counter("relabel_labels_total", "Labels that were received, or found to be missing.", "status"),
		commits:   auto.NewHistogram(prometheus.HistogramOpts{Name: "relabel_commit_seconds", Help: "Time to commit a turn.", Buckets: fastBuckets}),
		starts:    histogram("relabel_sandbox_start_seconds", "Time to prepare a sandbox, including the pull of its image.", slowBuckets, "outcome"),
		execs:     auto.NewHistogram(prometheus.HistogramOpts{Name: "relabel_sandbox_exec_seconds", Help: "Time of one tool call in a sandbox.", Buckets: slowBuckets}),
		replays:   counter("relabel_replays_total", "Replays of an earlier attempt's turns, by whether they reached the same states.", "outcome"),
		replayed:  auto.NewCounter(prometheus.CounterOpts{Name: "relabel_replayed_turns_total", Help: "Turns that were executed again."}),
		failures:  counter("relabel_rollout_failures_total", "Attempts that failed for a reason outside of the agent, by the consequence.", "reason", "then"),
		spent:     counter("relabel_rollout_seconds_total", "Time of ended attempts, by phase.", "part"),
		takeovers: auto.NewCounter(prometheus.CounterOpts{Name: "relabel_lease_takeovers_total", Help: "Trajectories that this process requeued because their worker is gone."}),
		calls:     histogram("relabel_call_seconds", "Time of one HTTP request to a policy's endpoint.", slowBuckets, "policy", "purpose", "outcome"),
		waits:     histogram("relabel_call_wait_seconds", "Time that the request waited for a slot at the endpoint.", slowBuckets, "policy", "purpose"),
		retries:   counter("relabel_call_retries_total", "Requests that repeat a failed one, by how that failed.", "policy", "reason"),
		tokens:    counter("relabel_tokens_total", "Tokens as servers count them; cached ones are part of the prompt.", "policy", "kind"),
		cost:      counter("relabel_cost_total", "Cost of answers by their policies' prices, in units of the currency.", "policy", "currency"),
	}
	build := prometheus.GaugeOpts{Name: "relabel_build_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": version}}
	auto.NewGauge(build).Set(1)
	registry.MustRegister(gauges(m.Endpoints.gauges), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.initialize()
	return m
}

// initialize creates the series that alerts use: the rate of an absent series is absent, not 0.
func (m *Metrics) initialize() {
	for _, v := range []struct {
		of     *prometheus.CounterVec
		values []string
	}{{m.turns, []string{"teacher", "student"}}, {m.labels, []string{"received", "missing"}}, {m.replays, []string{"same", "diverged"}}} {
		for _, value := range v.values {
			v.of.WithLabelValues(value)
		}
	}
}

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Started counts the preparation of a sandbox.
func (m *Metrics) Started(took time.Duration, err error) {
	m.starts.WithLabelValues(either(err == nil, "ready", "failed")).Observe(took.Seconds())
}

// Committed counts a turn and the time of its commit.
func (m *Metrics) Committed(turn relabel.Turn, took time.Duration) {
	m.turns.WithLabelValues(string(turn.Executor)).Inc()
	m.commits.Observe(took.Seconds())
	for _, o := range turn.Observations {
		if o.CallID != "" {
			m.execs.Observe(float64(o.Millis) / 1000)
		}
	}
	if turn.Label != nil && turn.Label.Status != relabel.Pending {
		m.Labelled(*turn.Label)
	}
}

// Labelled counts a label that was received or is missing.
func (m *Metrics) Labelled(label relabel.Action) {
	m.labels.WithLabelValues(string(label.Status)).Inc()
}

// Replayed counts turns that were executed again, and whether they reached the same states.
func (m *Metrics) Replayed(turns int, same bool) {
	m.replays.WithLabelValues(either(same, "same", "diverged")).Inc()
	m.replayed.Add(float64(turns))
}

// Failed counts an attempt that failed for a reason outside of the agent.
func (m *Metrics) Failed(reason relabel.FailureReason, again bool) {
	m.failures.WithLabelValues(string(reason), either(again, "retried", "failed")).Inc()
}

// Ended adds the phase times of an attempt.
func (m *Metrics) Ended(spent relabel.TimeSpent) {
	for part, ms := range spent.Parts() {
		m.spent.WithLabelValues(part).Add(float64(max(ms, 0)) / 1000)
	}
}

// TookOver counts trajectories that were requeued because their worker is gone.
func (m *Metrics) TookOver(n int) { m.takeovers.Add(float64(n)) }

// Request is one HTTP request to a model endpoint.
type Request struct {
	Policy  string // its name
	Purpose relabel.Purpose
	Outcome string
	After   string // outcome of the call's previous request; "" for its first
	Queued  time.Duration
	Took    time.Duration
	Usage   *relabel.Usage // nil if the server does not report it
}

// Requested counts an HTTP request.
func (m *Metrics) Requested(r Request) {
	m.calls.WithLabelValues(r.Policy, string(r.Purpose), r.Outcome).Observe(r.Took.Seconds())
	m.waits.WithLabelValues(r.Policy, string(r.Purpose)).Observe(r.Queued.Seconds())
	if r.After != "" {
		m.retries.WithLabelValues(r.Policy, r.After).Inc()
	}
	if r.Usage != nil {
		m.tokens.WithLabelValues(r.Policy, "prompt").Add(float64(max(r.Usage.PromptTokens, 0)))
		m.tokens.WithLabelValues(r.Policy, "cached").Add(float64(max(r.Usage.CachedTokens, 0)))
		m.tokens.WithLabelValues(r.Policy, "completion").Add(float64(max(r.Usage.CompletionTokens, 0)))
	}
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
