package worker

import (
	"context"
	"sync"
	"time"

	"relabel"
)

// Overviews reads the overview of all work from the database and caches it, so that any number of
// scrapes and readers costs at most a query every few seconds and a tenth of the time.
type Overviews struct {
	read func(context.Context) (relabel.Overview, error)

	mu    sync.Mutex
	last  relabel.Overview
	until time.Time
}

// keepOverview is the shortest time that an overview is cached.
const keepOverview = 3 * time.Second

// NewOverviews returns Overviews that read with read.
func NewOverviews(read func(context.Context) (relabel.Overview, error)) *Overviews {
	return &Overviews{read: read}
}

// Get returns the overview, which may be some seconds old.
func (o *Overviews) Get(ctx context.Context) (relabel.Overview, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	began := time.Now()
	if began.Before(o.until) {
		return o.last, nil
	}
	now, err := o.read(ctx)
	if err != nil {
		return relabel.Overview{}, err
	}
	o.last, o.until = now, time.Now().Add(max(keepOverview, 9*time.Since(began)))
	return now, nil
}

// The gauges of the database. Only servers report them: all processes share the database.
var (
	descDatabase   = desc("relabel_database_up", "1 while the database answers; without it the following are absent.")
	descStates     = desc("relabel_trajectories", "Trajectories by state.", "state")
	descTurns      = desc("relabel_stored_turns", "Turns of all trajectories, by executor.", "executor")
	descLabels     = desc("relabel_stored_labels", "Labels of all turns, by status.", "status")
	descQueue      = desc("relabel_queue_jobs", "Waiting jobs, by queue.", "queue")
	descIdeal      = desc("relabel_critical_path_ideal_seconds", "Critical paths of all trajectories that are done.")
	descActual     = desc("relabel_critical_path_actual_seconds", "Time that those trajectories were on their critical paths.")
	descEfficiency = desc("relabel_critical_path_efficiency_ratio", "Ideal by actual of the two above.")
)

// scrapeLimit bounds the database query of a scrape.
const scrapeLimit = 5 * time.Second

// AddOverview adds the gauges of the database.
func (m *Metrics) AddOverview(o *Overviews) { m.registry.MustRegister(gauges(o.gauges)) }

func (o *Overviews) gauges(gauge set) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	all, err := o.Get(ctx)
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
	gauge(descLabels, float64(all.Total.LabelsReceived), string(relabel.Received))
	gauge(descLabels, float64(all.Total.LabelsPending), string(relabel.Pending))
	gauge(descLabels, float64(all.Total.LabelsMissed), string(relabel.Missing))
	gauge(descLabels, float64(all.Total.LabelsNotSelected), string(relabel.NotSelected))
	for _, queue := range []string{"rollout", "export"} {
		gauge(descQueue, float64(all.Jobs[queue]), queue)
	}
	gauge(descIdeal, float64(all.Ideal)/1000)
	gauge(descActual, float64(all.Actual)/1000)
	if all.Efficiency != nil {
		gauge(descEfficiency, *all.Efficiency)
	}
}
