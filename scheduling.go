package relabel

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Scheduling is the part of a run that can be changed: how its trajectories share the
// workers' slots with those of other runs.
type Scheduling struct {
	// Priority orders runs: trajectories of the highest priority are claimed first.
	Priority int `json:"priority" doc:"Runs with the highest priority are claimed first; runs of equal priority share the slots evenly."`
	// Quota bounds the run's trajectories that workers hold at a time, and so its sandboxes; 0:
	// no bound but the slots.
	Quota  int    `json:"quota" doc:"Maximum number of its trajectories that workers hold at a time; 0: limited only by the slots."`
	Paused *Pause `json:"paused,omitempty" doc:"Its pause; absent: not paused."`
}

// PauseReason says why a run or an iteration was paused.
type PauseReason string

// The reasons of a pause.
const (
	PausedByUser   PauseReason = "user"
	PausedByBudget PauseReason = "budget" // the run's budget is spent
	PausedByDisk   PauseReason = "disk"   // low disk space
	// PausedByWeights is an iteration whose student has other weights than at its start.
	PausedByWeights PauseReason = "weights"
)

// Pause is a pause of a run or an iteration: nothing of it is claimed, and workers release
// its running trajectories after their current turn.
type Pause struct {
	Reason PauseReason `json:"reason" doc:"user, budget, disk or weights (the student no longer has the weights of the start)."`
	Text   string      `json:"text" doc:"Explanation; may be empty."`
	Since  time.Time   `json:"since" doc:"When it began."`
}

// SchedulingChange changes a run's scheduling. nil fields stay unchanged.
type SchedulingChange struct {
	Priority *int
	Quota    *int     // 0: no bound
	Budget   *Budget  // all of it; zero: no bound
	Webhook  *Webhook // without a URL: none of its own
}

// Standing is the state in the database of a trajectory that a worker holds.
type Standing struct {
	Held   bool // by this fence, with a live lease
	Paused bool // its run or iteration is
}

// WorkerState is the state of a worker.
type WorkerState string

// The states of a worker.
const (
	WorkerWorking  WorkerState = "working"
	WorkerDraining WorkerState = "draining" // it claims nothing new and exits when its trajectories end
	WorkerSilent   WorkerState = "silent"   // no heartbeat: dead, stopped or disconnected
)

// Worker is a process that rolls trajectories out.
type Worker struct {
	Name        string      `json:"name" doc:"Its name, as in attempts."`
	Machine     string      `json:"machine" doc:"Host name of its machine."`
	Process     int         `json:"process" doc:"Its process id there."`
	DockerHosts []string    `json:"docker_hosts" doc:"The engines of its sandboxes."`
	TaskKinds   []TaskKind  `json:"task_kinds" nullable:"false" doc:"Kinds of task that it can roll out now: repair and terminal need a working engine, localise a folder of mirrors."`
	Rollouts    int         `json:"rollouts" doc:"Number of concurrent rollouts of tasks to repair."`
	Searches    int         `json:"searches" doc:"Number of concurrent rollouts of tasks to localise; 0: it has no mirrors."`
	Prefetch    int         `json:"prefetch" doc:"Extra sandboxes that it prepares while all slots are busy."`
	Version     string      `json:"version" doc:"Version of relabel."`
	State       WorkerState `json:"state" doc:"working; draining: it claims nothing new and exits when its trajectories end; silent: no heartbeat for half a minute."`
	Held        int         `json:"held" doc:"Trajectories that it holds now."`
	StartedAt   time.Time   `json:"started_at" doc:"When it started."`
	SeenAt      time.Time   `json:"seen_at" doc:"Time of its last heartbeat."`
	// Activity is nil before the first report.
	Activity *WorkerActivity `json:"activity" doc:"Its activity, a few seconds old; null before its first report."`
}

// LackedWorker says which worker is missing for tasks of a kind; "" if one of the workers rolls them out.
func LackedWorker(kind TaskKind, workers []Worker) string {
	problem := ""
	for _, w := range workers {
		if w.State == WorkerWorking && slices.Contains(w.TaskKinds, kind) {
			return ""
		}
		if w.State == WorkerWorking && w.Rollouts > 0 && len(w.DockerHosts) > 0 {
			problem = "; " + w.Name + " has " + strings.Join(w.DockerHosts, ", ")
		}
	}
	if kind == Localise {
		return "no worker rolls out tasks to localise: start relabel serve or relabel worker with --repositories DIR"
	}
	return "no worker rolls out " + kind.Words() + ", which needs a Docker engine" + problem
}

// Engine is the state of a Docker engine, as a process last saw it.
type Engine struct {
	Name    string
	Slots   int // negative if unlimited
	Used    int
	Free    int64  // bytes for images and layers; negative if unknown
	Problem string // why it gets no new sandboxes; "" if it does
}

// Recovered is a trajectory that a dead worker left and that is queued again.
type Recovered struct {
	TrajectoryID ID
	InstanceID   string
	Was          TrajectoryState
	Owner        string // the worker that is gone
	Attempt      int    // the attempt that is lost
	Turns        int    // that were committed
	DockerHost   string // where its sandbox ran, and
	Container    string // its container; "" when it had none yet
}

// SchedulingStore pauses, resumes and retries work, and lists workers and outages.
type SchedulingStore interface {
	// PauseRun and PauseIteration pause; see Pause. A second pause changes nothing. CodeConflict
	// for an iteration that has ended.
	PauseRun(ctx context.Context, id ID, reason PauseReason, text string) (Run, error)
	// ResumeRun returns CodeConflict if the run's budget is spent.
	ResumeRun(ctx context.Context, id ID) (Run, error)
	PauseIteration(ctx context.Context, id ID, reason PauseReason, text string) (Iteration, error)
	ResumeIteration(ctx context.Context, id ID) (Iteration, error)
	// SetScheduling changes a run's scheduling from the next claim on.
	SetScheduling(ctx context.Context, run ID, to SchedulingChange) (Run, error)
	// RetryFailed queues the trajectories that failed for one of the reasons (none: any reason)
	// again and returns their number. CodeConflict if the iteration was cancelled.
	RetryFailed(ctx context.Context, iteration ID, reasons []FailureReason) (retried int, err error)
	// ListWorkers lists the workers.
	ListWorkers(ctx context.Context) ([]Worker, error)
	// ListOutages lists policies that are down and that queued trajectories of a run (nil: of any
	// run) wait for.
	ListOutages(ctx context.Context, run *ID) ([]Outage, error)
}
