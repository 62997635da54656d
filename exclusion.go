package relabel

import (
	"context"
	"regexp"
	"time"
)

// Exclusion is a named list of instance ids and repositories, such as those of a public benchmark. Their tasks, of
// any task set, are reserved as those of named benchmarks are. It never changes.
type Exclusion struct {
	ID        ID        `json:"id" doc:"Its id."`
	Name      string    `json:"name" doc:"Its name, which no benchmark has either."`
	Entries   int       `json:"entries" doc:"Number of its entries."`
	CreatedAt time.Time `json:"created_at" doc:"When it was added."`
}

// exclusionEntry matches an instance id, a repository (owner/name) and the address of a clone.
var exclusionEntry = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+:@~/-]{0,999}$`)

// IsExclusionEntry reports whether a text can be an entry of an exclusion list.
func IsExclusionEntry(text string) bool { return exclusionEntry.MatchString(text) }

// Overlap is a task that has something in common with another task, or with an entry of an exclusion list.
type Overlap struct {
	InstanceID string      `json:"instance_id" doc:"Instance id of the task."`
	Kind       OverlapKind `json:"kind" doc:"instance: the same instance id, in any spelling. commit: the same repository and base commit. repository: the exclusion list has the task's repository. patch: only the patches overlap."`
	With       string      `json:"with" doc:"Name of the task set, the benchmark or the exclusion list that has the other one."`
	Other      string      `json:"other" doc:"Instance id of the other task, or the entry of the exclusion list."`
	Share      float64     `json:"share" doc:"Share of the smaller patch's grams of 13 tokens that both patches have; 0 if it is below the threshold, or was not measured."`
	Common     int         `json:"common" doc:"Number of these grams."`
}

// OverlapKind is what a task has in common with another one.
type OverlapKind string

// The kinds, the strongest first.
const (
	SameInstance   OverlapKind = "instance"
	SameCommit     OverlapKind = "commit"
	SameRepository OverlapKind = "repository"
	SimilarPatch   OverlapKind = "patch"
)

// OverlapReport lists what tasks of a task set have in common with others.
type OverlapReport struct {
	Threshold float64             `json:"threshold" doc:"Smallest share of patches that counts."`
	Tasks     int                 `json:"tasks" doc:"Number of tasks of the task set."`
	With      []string            `json:"with" doc:"Names of what they were compared with."`
	Overlaps  []Overlap           `json:"overlaps" doc:"The overlaps, by kind, then by share, largest first; at most 10000."`
	Total     int                 `json:"total" doc:"Number of overlaps, also of those that are not listed."`
	Affected  map[OverlapKind]int `json:"affected" doc:"Number of tasks with an overlap of each kind."`
}

// OverlapQuery asks what the tasks of a task set have in common with others.
type OverlapQuery struct {
	TasksetID  ID
	Revision   int         // 0: the newest
	Tasksets   []Taskset   // its own: pairs of its tasks, by their patches
	Benchmarks []Benchmark // with names
	Exclusions []Exclusion
	Entries    []string // as of an exclusion list
	Threshold  float64
}

// MostComparedTasks bounds the smaller side of a comparison of patches, which is in memory.
const MostComparedTasks = 20_000

// ExclusionStore stores exclusion lists, and compares tasks.
type ExclusionStore interface {
	// CreateExclusion stores a list of entries, each once. CodeConflict if a list or a benchmark has the name.
	CreateExclusion(ctx context.Context, e Exclusion, entries []string) error
	// DeleteExclusion deletes a list, which then reserves nothing.
	DeleteExclusion(ctx context.Context, id ID) error
	FindExclusion(ctx context.Context, id ID) (Exclusion, error)
	FindExclusionByName(ctx context.Context, name string) (Exclusion, error)
	// ListExclusions lists exclusion lists, newest first.
	ListExclusions(ctx context.Context, p Page) (lists []Exclusion, next string, err error)
	// ListExclusionEntries lists the entries of a list in byte order.
	ListExclusionEntries(ctx context.Context, id ID) ([]string, error)
	// CountExcluded counts what a list reserves, as BenchmarkStore.CountReserved.
	CountExcluded(ctx context.Context, id ID) (Reservation, error)
	// FindOverlaps compares the tasks of a task set. CodeInvalid if both sides of a comparison of patches have more
	// than MostComparedTasks tasks.
	FindOverlaps(ctx context.Context, q OverlapQuery) (OverlapReport, error)
}
