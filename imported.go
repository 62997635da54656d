package relabel

import (
	"context"
	"iter"
)

// ScaffoldImported is the scaffold of runs whose trajectories were imported. Nothing is rolled out in them.
const ScaffoldImported = "imported"

// NotAsked is the reason of the missing labels of imported trajectories.
const NotAsked = "the trajectory was imported, and no teacher was asked: relabel it"

// ImportedRun is a run of trajectories that were rolled out elsewhere, with its taskset and its only iteration.
type ImportedRun struct {
	Taskset      Taskset
	Run          Run
	Iteration    Iteration
	Trajectories int // how many follow
}

// ImportedTrajectory is one of its trajectories, which is done and has no verdict.
type ImportedTrajectory struct {
	Task       Task // the same id for each trajectory of a task
	ID         ID
	Generation int // which trajectory of its task it is, from 0
	Turns      []Turn
	Ending     Ending
}

// Executors are those of its turns.
func (t ImportedTrajectory) Executors() Executors {
	letters := make([]byte, len(t.Turns))
	for i, turn := range t.Turns {
		letters[i] = 's'
		if turn.Executor == Teacher {
			letters[i] = 'T'
		}
	}
	return Executors(letters)
}

// ImportStore stores imported runs.
type ImportStore interface {
	// ImportRun stores the run with all its trajectories or nothing. trajectories may be read more than once.
	// CodeConflict if a name is taken, or a benchmark or exclusion list reserves a task.
	ImportRun(ctx context.Context, r ImportedRun, trajectories iter.Seq2[ImportedTrajectory, error]) error
}
