package store

import (
	"sync"
	"time"

	"relabel"
)

// mostEnded bounds the cached sums: some kilobytes per iteration.
const mostEnded = 1000

// endedSums caches sums over all trajectories of iterations that have ended. They change only
// when an iteration is retried, which changes its end, or graded again, which changes
// regraded_at.
type endedSums[T any] struct {
	mu sync.Mutex
	of map[relabel.ID]endedSum[T]
}

type endedSum[T any] struct {
	changed time.Time
	sum     T
}

// changedAt is the time of the last change of an ended iteration.
func changedAt(it relabel.Iteration) time.Time {
	if it.RegradedAt != nil && it.RegradedAt.After(*it.EndedAt) {
		return *it.RegradedAt
	}
	return *it.EndedAt
}

// find returns the cached sum of an iteration. All callers share it.
func (e *endedSums[T]) find(it relabel.Iteration) (sum T, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one, known := e.of[it.ID]
	if !known || it.EndedAt == nil || !changedAt(it).Equal(one.changed) {
		return sum, false
	}
	return one.sum, true
}

// keep caches the sum of an iteration, read after the iteration itself. It ignores a running
// iteration.
func (e *endedSums[T]) keep(it relabel.Iteration, sum T) {
	if it.EndedAt == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil || len(e.of) >= mostEnded {
		e.of = map[relabel.ID]endedSum[T]{}
	}
	e.of[it.ID] = endedSum[T]{changedAt(it), sum}
}
