package relabel

import (
	"context"
	"time"
)

// Benchmark is a fixed list of tasks with limits, which evaluations and samples roll out. It never changes, and is
// deleted only while none is on it.
// One with a name reserves its tasks: they are not drawn for collection and not exported, unless
// that is allowed. One without a name holds what evaluations, and samples on held-out tasks, drew.
type Benchmark struct {
	ID              ID              `json:"id" doc:"Its id."`
	Name            string          `json:"name,omitempty" doc:"Its name; absent: it is what evaluations or samples drew, and reserves no task."`
	TasksetID       ID              `json:"taskset_id" doc:"The task set of its tasks."`
	TasksetRevision int             `json:"taskset_revision" doc:"The revision of the task set that its tasks are from."`
	Source          BenchmarkSource `json:"source" doc:"How its tasks were chosen."`
	Tasks           int             `json:"tasks" doc:"Number of its tasks."`
	Excluded        []ExcludedTask  `json:"excluded" nullable:"false" doc:"Chosen tasks that it does not have, sorted by instance id, with the reasons."`
	Limits          RunLimits       `json:"limits" doc:"Limits of each trajectory of its evaluations, instead of the run's."`
	CreatedAt       time.Time       `json:"created_at" doc:"When it was created."`
	// Evaluations and Samples grow; the rest never changes.
	Evaluations int `json:"evaluations" doc:"Number of evaluations on it, of all runs."`
	Samples     int `json:"samples" doc:"Number of samples on it, of all runs."`
}

// Reservation counts what a benchmark with a name, or an exclusion list, keeps out of training.
type Reservation struct {
	Trainable    int `json:"trainable_tasks" doc:"Number of tasks that it reserves and that are not held out, counted in each task set."`
	Trajectories int `json:"trajectories" doc:"Number of finished trajectories for training, of all runs, whose task it reserves: no export has them without allow_benchmarks."`
	Similar      int `json:"similar_tasks" doc:"Number of the trainable tasks that it reserves only since their patches overlap with those of its tasks; 0 for an exclusion list, which has no patches."`
}

// BenchmarkSource says how the tasks of a benchmark were chosen.
type BenchmarkSource struct {
	Kind BenchmarkSourceKind `json:"kind" doc:"instances: by their instance ids. held_out: the held-out tasks. all: all tasks of the task set. drawn: by a seed. evaluation: what an evaluation, or a sample on held-out tasks, drew."`
	Seed *int64              `json:"seed,omitempty" doc:"Seed of the draw; absent unless drawn."`
}

// BenchmarkSourceKind is a way to choose the tasks of a benchmark.
type BenchmarkSourceKind string

// The ways.
const (
	FromInstances  BenchmarkSourceKind = "instances"
	FromHeldOut    BenchmarkSourceKind = "held_out"
	FromAll        BenchmarkSourceKind = "all"
	FromSeed       BenchmarkSourceKind = "drawn"
	FromEvaluation BenchmarkSourceKind = "evaluation"
)

// ExcludedTask is a task that a benchmark does not have, for example since its image cannot be
// built.
type ExcludedTask struct {
	InstanceID string `json:"instance_id" minLength:"1" maxLength:"1000" doc:"Its instance id."`
	Reason     string `json:"reason" minLength:"1" maxLength:"1000" doc:"Why it is excluded."`
}

// BenchmarkFilter narrows a list of benchmarks.
type BenchmarkFilter struct {
	Unnamed bool // also those without a name
}

// BenchmarkStore stores benchmarks.
type BenchmarkStore interface {
	// CreateBenchmark stores a named benchmark of these tasks. CodeConflict if the name is taken.
	CreateBenchmark(ctx context.Context, b Benchmark, tasks []ID) error
	// DeleteBenchmark deletes a benchmark, which then reserves nothing. CodeConflict while an evaluation
	// or a sample is on it.
	DeleteBenchmark(ctx context.Context, id ID) error
	// CountReserved counts what a benchmark reserves.
	CountReserved(ctx context.Context, id ID) (Reservation, error)
	FindBenchmark(ctx context.Context, id ID) (Benchmark, error)
	FindBenchmarkByName(ctx context.Context, name string) (Benchmark, error)
	// ListBenchmarks lists benchmarks, newest first.
	ListBenchmarks(ctx context.Context, f BenchmarkFilter, p Page) (benchmarks []Benchmark, next string, err error)
	// ListBenchmarkTasks lists the tasks of a benchmark in the byte order of their instance ids,
	// as TaskStore.ListTaskNames.
	ListBenchmarkTasks(ctx context.Context, id ID) ([]Task, error)
	// ListReserved returns the tasks of a task set that named benchmarks and exclusion lists reserve, each
	// with the first of these names. A task is reserved if a benchmark has one with its instance id, or of
	// its repository and base commit, in any task set and in any spelling, or one whose patch overlaps with
	// its own by overlap.Threshold or more; and if an exclusion list has its instance id or its repository.
	// Those in allowed reserve nothing.
	ListReserved(ctx context.Context, taskset ID, allowed []string) (map[ID]string, error)
	// ListReservedBy returns the names of all benchmarks and exclusion lists that reserve tasks, in byte order by
	// task; a task that none reserves is absent.
	ListReservedBy(ctx context.Context, tasks []ID) (map[ID][]string, error)
	// CountReservedSince counts the tasks of an iteration for training that named benchmarks and exclusion lists reserve now,
	// but those that it allows: benchmarks that were created after it.
	CountReservedSince(ctx context.Context, it Iteration) (int, error)
	// CountTasks counts the tasks that iterations of a run may draw. allowed are names of benchmarks that
	// reserve nothing.
	CountTasks(ctx context.Context, run Run, allowed []string) (TaskCounts, error)
	// ListEvaluations lists the evaluations of a benchmark, of all runs, newest first.
	ListEvaluations(ctx context.Context, benchmark ID, p Page) (evaluations []Iteration, next string, err error)
}
