package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"relabel"
)

// set reports the value of a gauge.
type set func(d *prometheus.Desc, v float64, labels ...string)

// gauges reads gauges at each scrape.
type gauges func(set set)

// Describe declares nothing: which series exist differs between scrapes.
func (g gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads all gauges.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	g(func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var descRollouts = desc("relabel_worker_rollouts", "Trajectories in this process, by phase.", "phase")

// AddRollouts adds the rollouts of this process, by phase.
func (m *Metrics) AddRollouts(activity func() []relabel.RolloutActivity) {
	m.registry.MustRegister(gauges(func(set set) {
		count := map[relabel.Phase]int{}
		for _, a := range activity() {
			count[a.Phase]++
		}
		for _, phase := range relabel.Phases {
			set(descRollouts, float64(count[phase]), string(phase))
		}
	}))
}

var descTraces = prometheus.NewDesc("relabel_trace_spans_total", "Spans of this process, by whether the collector took them.", []string{"outcome"}, nil)

// spanCounts reads the counts of spans at each scrape.
type spanCounts func() (sent, failed, dropped int64)

// Describe declares the counter.
func (spanCounts) Describe(to chan<- *prometheus.Desc) { to <- descTraces }

// Collect reads the counts.
func (c spanCounts) Collect(to chan<- prometheus.Metric) {
	sent, failed, dropped := c()
	for outcome, n := range map[string]int64{"sent": sent, "failed": failed, "dropped": dropped} {
		to <- prometheus.MustNewConstMetric(descTraces, prometheus.CounterValue, float64(n), outcome)
	}
}

// AddTraces adds the spans of this process: sent, failed to be sent, and dropped because too many waited.
func (m *Metrics) AddTraces(counts func() (sent, failed, dropped int64)) {
	m.registry.MustRegister(spanCounts(counts))
}

var (
	descEngineUp    = desc("relabel_docker_up", "1 if the engine gets new sandboxes, 0 while it fails or is full.", "docker")
	descEngineUsed  = desc("relabel_docker_sandboxes", "Sandboxes of this process on the engine.", "docker")
	descEngineSlots = desc("relabel_docker_slots", "Sandboxes that this process may hold on the engine; absent if unlimited.", "docker")
	descEngineFree  = desc("relabel_docker_free_bytes", "Disk space left for images and layers; absent if unknown.", "docker")
)

// AddEngines adds the Docker engines of this process.
func (m *Metrics) AddEngines(engines func() []relabel.Engine) {
	m.registry.MustRegister(gauges(func(set set) {
		for _, e := range engines() {
			up := 1.0
			if e.Problem != "" {
				up = 0
			}
			set(descEngineUp, up, e.Name)
			set(descEngineUsed, float64(e.Used), e.Name)
			if e.Slots >= 0 {
				set(descEngineSlots, float64(e.Slots), e.Name)
			}
			if e.Free >= 0 {
				set(descEngineFree, float64(e.Free), e.Name)
			}
		}
	}))
}
