package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"relabel"
)

// overviews asks the database how everything stands, and keeps the answer for a while:
// no number of scrapes or watchers asks it more often than every few seconds, nor spends
// more than a tenth of its time on it.
type overviews struct {
	ask func(context.Context) (relabel.Overview, error)

	mu    sync.Mutex
	last  relabel.Overview
	until time.Time
}

// keepOverview is how long an answer is kept at least.
const keepOverview = 3 * time.Second

func (o *overviews) get(ctx context.Context) (relabel.Overview, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	begun := time.Now()
	if begun.Before(o.until) {
		return o.last, nil
	}
	now, err := o.ask(ctx)
	if err != nil {
		return relabel.Overview{}, err
	}
	o.last, o.until = now, time.Now().Add(max(keepOverview, 9*time.Since(begun)))
	return now, nil
}

// What the database tells. All processes share it, so only the server is asked for it.
var (
	descDatabase   = prometheus.NewDesc("relabel_database_up", "1 while the database answers; without it the following are absent.", nil, nil)
	descStates     = prometheus.NewDesc("relabel_trajectories", "Trajectories by state.", []string{"state"}, nil)
	descTurns      = prometheus.NewDesc("relabel_stored_turns", "Turns of all trajectories, by executor.", []string{"executor"}, nil)
	descLabels     = prometheus.NewDesc("relabel_stored_labels", "Labels of all turns, by status.", []string{"status"}, nil)
	descQueue      = prometheus.NewDesc("relabel_queue_jobs", "Jobs that wait, by queue.", []string{"queue"}, nil)
	descIdeal      = prometheus.NewDesc("relabel_critical_path_ideal_seconds", "Critical paths of all trajectories that are done.", nil, nil)
	descActual     = prometheus.NewDesc("relabel_critical_path_actual_seconds", "Time that those trajectories were on their critical paths.", nil, nil)
	descEfficiency = prometheus.NewDesc("relabel_critical_path_efficiency_ratio", "Ideal by actual of the two above.", nil, nil)
	overviewDescs  = []*prometheus.Desc{descDatabase, descStates, descTurns, descLabels, descQueue, descIdeal, descActual, descEfficiency}
)

// scrapeLimit bounds what a scrape waits for the database.
const scrapeLimit = 5 * time.Second

// Describe lists what Collect gives.
func (o *overviews) Describe(to chan<- *prometheus.Desc) {
	for _, d := range overviewDescs {
		to <- d
	}
}

// Collect gives the overview. Where the database does not answer, that is what it says.
func (o *overviews) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	all, err := o.get(ctx)
	if err != nil {
		gauge(descDatabase, 0)
		return
	}
	gauge(descDatabase, 1)
	for _, state := range relabel.TrajectoryStates {
		gauge(descStates, float64(all.Total.Trajectories[state]), string(state))
	}
	gauge(descTurns, float64(all.Total.TeacherTurns), string(relabel.Teacher))
	gauge(descTurns, float64(all.Total.Turns-all.Total.TeacherTurns), string(relabel.Student))
	gauge(descLabels, float64(all.Total.LabelsHad), string(relabel.Had))
	gauge(descLabels, float64(all.Total.LabelsOwed), string(relabel.Owed))
	gauge(descLabels, float64(all.Total.LabelsMissed), string(relabel.Missing))
	for _, queue := range []string{"rollout", "export"} {
		gauge(descQueue, float64(all.Jobs[queue]), queue)
	}
	gauge(descIdeal, float64(all.Ideal)/1000)
	gauge(descActual, float64(all.Actual)/1000)
	if all.Efficiency != nil {
		gauge(descEfficiency, *all.Efficiency)
	}
}

// rollouts counts what is rolled out in this process, by what it does right now.
type rollouts struct {
	activity func() []relabel.RolloutActivity
}

var descRollouts = prometheus.NewDesc("relabel_worker_rollouts", "Trajectories in this process, by what they do right now.", []string{"phase"}, nil)

// Describe lists what Collect gives.
func (r rollouts) Describe(to chan<- *prometheus.Desc) { to <- descRollouts }

// Collect counts.
func (r rollouts) Collect(to chan<- prometheus.Metric) {
	count := map[relabel.Phase]int{}
	for _, a := range r.activity() {
		count[a.Phase]++
	}
	for _, phase := range relabel.Phases {
		to <- prometheus.MustNewConstMetric(descRollouts, prometheus.GaugeValue, float64(count[phase]), string(phase))
	}
}
