package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"relabel/envs/fleet"
)

// engines are the Docker engines that this process drives, as metrics.
type engines struct{ host *fleet.Fleet }

var (
	descEngineUp    = prometheus.NewDesc("relabel_docker_up", "1 where new sandboxes are made on the engine; 0 while it fails or is full.", []string{"docker"}, nil)
	descEngineUsed  = prometheus.NewDesc("relabel_docker_sandboxes", "Sandboxes of this process on the engine.", []string{"docker"}, nil)
	descEngineSlots = prometheus.NewDesc("relabel_docker_slots", "Sandboxes that this process may hold on the engine; absent where nothing bounds them.", []string{"docker"}, nil)
	descEngineFree  = prometheus.NewDesc("relabel_docker_free_bytes", "Disk space left for images and layers; absent where it is not to be known from here.", []string{"docker"}, nil)
)

// Describe lists what Collect gives.
func (e engines) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descEngineUp, descEngineUsed, descEngineSlots, descEngineFree} {
		to <- d
	}
}

// Collect says how each engine was at the last look.
func (e engines) Collect(to chan<- prometheus.Metric) {
	for _, h := range e.host.Health() {
		gauge := func(d *prometheus.Desc, v float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, h.Name)
		}
		up := 1.0
		if h.Problem != "" {
			up = 0
		}
		gauge(descEngineUp, up)
		gauge(descEngineUsed, float64(h.Used))
		if h.Slots >= 0 {
			gauge(descEngineSlots, float64(h.Slots))
		}
		if h.Free >= 0 {
			gauge(descEngineFree, float64(h.Free))
		}
	}
}
