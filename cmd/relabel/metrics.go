package main

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"relabel"
	"relabel/mixer"
)

// Buckets of the histograms, in seconds.
var (
	fastBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30} // writes
	slowBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}    // models, commands, sandboxes
)

// metrics are what Prometheus reads of this process. Every label has few values: states,
// phases, reasons, policies, endpoints; never a trajectory.
type metrics struct {
	registry *prometheus.Registry

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
	endpoints *endpoints
	calls     *prometheus.HistogramVec
	waits     *prometheus.HistogramVec
	retries   *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	cost      *prometheus.CounterVec
}

// newMetrics makes the metrics of a process, with those of Go and of the process itself.
func newMetrics() *metrics {
	m := &metrics{
		registry:  prometheus.NewRegistry(),
		turns:     counters("relabel_turns_total", "Turns that were committed.", "executor"),
		labels:    counters("relabel_labels_total", "Labels that were had, or found to be missing.", "status"),
		commits:   histogram("relabel_commit_seconds", "Time to commit a turn.", fastBuckets),
		starts:    histograms("relabel_sandbox_start_seconds", "Time to make a sandbox ready, pulling its image included.", slowBuckets, "outcome"),
		execs:     histogram("relabel_sandbox_exec_seconds", "Time of one tool call in a sandbox.", slowBuckets),
		replays:   counters("relabel_replays_total", "Replays of an earlier attempt's turns, by whether they came to the same states.", "outcome"),
		replayed:  counter("relabel_replayed_turns_total", "Turns that were executed again."),
		failures:  counters("relabel_rollout_failures_total", "Attempts that failed for another reason than the agent, by what came of it.", "reason", "then"),
		spent:     counters("relabel_rollout_seconds_total", "Where the time of attempts that ended went.", "part"),
		takeovers: counter("relabel_lease_takeovers_total", "Trajectories that this process took back from workers that are gone."),
		endpoints: &endpoints{},
		calls:     histograms("relabel_call_seconds", "Time of one HTTP request to a policy's endpoint.", slowBuckets, "policy", "purpose", "outcome"),
		waits:     histograms("relabel_call_wait_seconds", "Wait of that request for a place at the endpoint.", slowBuckets, "policy", "purpose"),
		retries:   counters("relabel_call_retries_total", "Requests that repeat a failed one, by how that failed.", "policy", "reason"),
		tokens:    counters("relabel_tokens_total", "Tokens as servers count them; cached ones are part of the prompt.", "policy", "kind"),
		cost:      counters("relabel_cost_total", "What answers cost by their policies' prices, in units of the currency.", "policy", "currency"),
	}
	m.register()
	return m
}

// register puts them into the registry. A rate of what is not there yet is none, and not
// 0: what alerts look at is there from the beginning.
func (m *metrics) register() {
	for _, v := range []struct {
		of     *prometheus.CounterVec
		values []string
	}{{m.turns, []string{"teacher", "student"}}, {m.labels, []string{"had", "missing"}}, {m.replays, []string{"same", "diverged"}}} {
		for _, value := range v.values {
			v.of.WithLabelValues(value)
		}
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "relabel_build_info", Help: "1, with the version.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(build, m.turns, m.labels, m.commits, m.starts, m.execs, m.replays, m.replayed, m.failures, m.spent,
		m.takeovers, m.endpoints, m.calls, m.waits, m.retries, m.tokens, m.cost, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// handler answers a scrape.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// ofRollouts are told by the mixer what its rollouts do.
func (m *metrics) ofRollouts() mixer.Observe {
	return mixer.Observe{
		Started:   m.started,
		Committed: m.committed,
		Settled:   func(label relabel.Action) { m.labels.WithLabelValues(string(label.Status)).Inc() },
		Replayed: func(turns int, same bool) {
			m.replays.WithLabelValues(either(same, "same", "diverged")).Inc()
			m.replayed.Add(float64(turns))
		},
		Broke: func(reason relabel.FailureReason, again bool) {
			m.failures.WithLabelValues(string(reason), either(again, "retried", "failed")).Inc()
		},
		Ended: m.ended,
	}
}

func (m *metrics) started(took time.Duration, err error) {
	m.starts.WithLabelValues(either(err == nil, "ready", "failed")).Observe(took.Seconds())
}

func (m *metrics) committed(turn relabel.Turn, took time.Duration) {
	m.turns.WithLabelValues(string(turn.Executor)).Inc()
	m.commits.Observe(took.Seconds())
	for _, o := range turn.Observations {
		if o.CallID != "" {
			m.execs.Observe(float64(o.Millis) / 1000)
		}
	}
	if turn.Label != nil && turn.Label.Status != relabel.Owed {
		m.labels.WithLabelValues(string(turn.Label.Status)).Inc()
	}
}

func (m *metrics) ended(spent relabel.TimeSpent) {
	for part, ms := range spent.Parts() {
		m.spent.WithLabelValues(part).Add(float64(max(ms, 0)) / 1000)
	}
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
