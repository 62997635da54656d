package store

import (
	"sync"
	"time"

	"relabel"
)

// mostEnded is of how many iterations sums are remembered: some kilobytes each.
const mostEnded = 1000

// endedSums remembers what was summed up over all trajectories of iterations that have
// ended. Nothing of those changes any more, until they are retried or graded again: a
// retried iteration runs and ends at another time, a regraded one has another regraded_at.
type endedSums[T any] struct {
	mu sync.Mutex
	of map[relabel.ID]endedSum[T]
}

type endedSum[T any] struct {
	changed time.Time
	sum     T
}

// changedAt is when an iteration that has ended last changed.
func changedAt(it relabel.Iteration) time.Time {
	if it.RegradedAt != nil && it.RegradedAt.After(*it.EndedAt) {
		return *it.RegradedAt
	}
	return *it.EndedAt
}

// find returns the sum of an iteration as it was read. It belongs to all who find it.
func (e *endedSums[T]) find(it relabel.Iteration) (sum T, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one, known := e.of[it.ID]
	if !known || it.EndedAt == nil || !changedAt(it).Equal(one.changed) {
		return sum, false
	}
	return one.sum, true
}

// keep remembers the sum of an iteration, read after the iteration was. One that runs is
// not remembered.
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
