package api

import "relabel"

// NewBenchmark describes a benchmark: one of instances, held_out, all and tasks selects its tasks.
type NewBenchmark struct {
	Name            string                 `json:"name" arg:"" minLength:"1" maxLength:"200" doc:"Name of the benchmark; it must be unique and never changes."`
	Taskset         string                 `json:"taskset" minLength:"1" maxLength:"200" doc:"The task set: its id or its name."`
	TasksetRevision int                    `json:"taskset_revision,omitempty" placeholder:"N" minimum:"1" maximum:"1000000" doc:"Revision of the task set whose tasks it has. Default: the newest."`
	Instances       []string               `json:"instances,omitempty" name:"instance" minItems:"1" maxItems:"100000" uniqueItems:"true" doc:"Exactly these instances."`
	HeldOut         bool                   `json:"held_out,omitempty" doc:"The held-out tasks of the task set."`
	All             bool                   `json:"all,omitempty" doc:"All tasks of the task set."`
	Tasks           int                    `json:"tasks,omitempty" name:"count" placeholder:"N" minimum:"1" maximum:"100000" doc:"Number of tasks to draw from all of the task set with the seed, which without excluded tasks holds out the same tasks as an import with this number and seed."`
	Seed            *int64                 `json:"seed,omitempty" placeholder:"N" doc:"Seed of the draw. Default: 0."`
	Excluded        []relabel.ExcludedTask `json:"excluded,omitempty" kong:"-" maxItems:"16000" doc:"Tasks of the selection that the benchmark does not have, with the reasons, besides those that the task set excludes. A draw is among the tasks that are not excluded."`
	Limits          *NewRunLimits          `json:"limits,omitempty" embed:"" doc:"Limits of each trajectory of its evaluations. Default: the paper's 100 turns and 65536 tokens; 200 turns and 131072 tokens are a longer variant."`
}

// BenchmarkView is a benchmark with its tasks.
type BenchmarkView struct {
	relabel.Benchmark
	Instances []string             `json:"instances" doc:"The instance ids of its tasks, sorted."`
	Reserves  *relabel.Reservation `json:"reserves,omitempty" doc:"What it keeps out of training; absent without a name."`
}

// BenchmarkQuery narrows a list of benchmarks.
type BenchmarkQuery struct {
	Unnamed bool `query:"unnamed" doc:"Also list benchmarks without a name, which hold what evaluations or samples drew."`
}
