package relabel

import (
	"context"
	"time"
)

// Scheduling is what of a run may change: how its trajectories share the workers' slots
// with those of other runs.
type Scheduling struct {
	// Priority orders runs: whatever the highest has queued is claimed first. From
	// -MaxPriority to MaxPriority.
	Priority int `json:"priority" doc:"The highest is claimed first; runs of one priority share the slots evenly."`
	// Quota is how many of the run's trajectories workers may hold at a time, and so bounds
	// its sandboxes; 0: as many as there are slots.
	Quota  int    `json:"quota" doc:"How many of its trajectories workers may hold at a time; 0: as many as there are slots."`
	Paused *Pause `json:"paused,omitempty" doc:"Why, and since when, nothing of it is claimed; absent: it goes on."`
}

// The bounds of a run's scheduling.
const (
	MaxPriority = 1000
	MaxQuota    = 1_000_000
)

// PauseReason says who or what paused a run or an iteration.
type PauseReason string

// The reasons of a pause.
const (
	PausedByUser   PauseReason = "user"
	PausedByBudget PauseReason = "budget" // the run's budget is spent
	PausedByDisk   PauseReason = "disk"   // too little disk space to go on
)

// Pause says why, and since when, nothing of a run or an iteration is claimed. What is
// queued stays so; what runs is given back after the turn in hand.
type Pause struct {
	Reason PauseReason `json:"reason" doc:"user, budget or disk."`
	Text   string      `json:"text" doc:"Why, in words; may be empty."`
	Since  time.Time   `json:"since" doc:"When it began."`
}

// SchedulingChange changes what of a run may change, where its fields are there.
type SchedulingChange struct {
	Priority *int
	Quota    *int     // 0: no bound
	Budget   *Budget  // all of it; zero: no bound
	Webhook  *Webhook // without a URL: none of its own
}

// Standing is how a held trajectory stands in the database.
type Standing struct {
	Held   bool // by this fence, with a live lease
	Paused bool // its run or iteration is
}

// WorkerState says what a worker is doing.
type WorkerState string

// The states of a worker.
const (
	WorkerWorking  WorkerState = "working"
	WorkerDraining WorkerState = "draining" // it claims nothing more, and ends with what it has
	WorkerSilent   WorkerState = "silent"   // it has not been heard of: dead, stopped, or cut off
)

// Worker is a process that rolls trajectories out.
type Worker struct {
	Name        string      `json:"name" doc:"Its name, as attempts have it."`
	Machine     string      `json:"machine" doc:"Host name of its machine."`
	Process     int         `json:"process" doc:"Its process id there."`
	DockerHosts []string    `json:"docker_hosts" doc:"The engines of its sandboxes."`
	Rollouts    int         `json:"rollouts" doc:"Trajectories that it rolls out at once."`
	Ahead       int         `json:"ahead" doc:"Further ones that it makes ready meanwhile."`
	Version     string      `json:"version" doc:"Version of relabel."`
	State       WorkerState `json:"state" doc:"working; draining: it claims nothing more and ends with what it has; silent: not heard of for half a minute."`
	Held        int         `json:"held" doc:"Trajectories that it owns now."`
	StartedAt   time.Time   `json:"started_at" doc:"When it started."`
	SeenAt      time.Time   `json:"seen_at" doc:"When it was last heard of."`
	// Activity is what it does; nil before it first said so.
	Activity *WorkerActivity `json:"activity" doc:"What it does right now, a few seconds old; null before it first said so."`
}

// SchedulingStore pauses, resumes and retries work, and tells who does it.
type SchedulingStore interface {
	// Nothing of what is paused is claimed; what workers hold of it they give back after
	// the turn in hand. Pausing twice is once. CodeConflict for an iteration that is over.
	PauseRun(ctx context.Context, id ID, reason PauseReason, text string) (Run, error)
	// ResumeRun: CodeConflict where the run's budget is spent.
	ResumeRun(ctx context.Context, id ID) (Run, error)
	PauseIteration(ctx context.Context, id ID, reason PauseReason, text string) (Iteration, error)
	ResumeIteration(ctx context.Context, id ID) (Iteration, error)
	// SetScheduling changes what of a run may change, from the next claim on.
	SetScheduling(ctx context.Context, run ID, to SchedulingChange) (Run, error)
	// RetryFailed queues the trajectories that failed for one of the reasons (none: for
	// any) once more and says how many. CodeConflict where the iteration was cancelled.
	RetryFailed(ctx context.Context, iteration ID, reasons []FailureReason) (retried int, err error)
	// ListWorkers lists the processes that roll out.
	ListWorkers(ctx context.Context) ([]Worker, error)
	// ListOutages lists policies that are down and that queued trajectories wait for; run nil
	// means of all runs.
	ListOutages(ctx context.Context, run *ID) ([]Outage, error)
}
