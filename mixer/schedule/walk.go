package schedule

import (
	"slices"

	"relabel"
)

// WalkTasks draws n of pool, at most all, without replacement over the iterations of a run: it takes the
// tasks that the current permutation has left, in its order, and then those of the next one. Tasks that
// end one permutation and begin an iteration are not drawn twice in it; the next permutation has them
// later. walked are the run's earlier draws of this kind, in order. The draw depends neither on the
// order of pool nor on the machine; the result is ordered by instance id.
func WalkTasks(seed int64, kind relabel.IterationKind, walked []relabel.WalkedDraw, pool []relabel.Task, n int) ([]relabel.Task, relabel.Walk) {
	number, taken := replay(walked)
	walk := relabel.Walk{Permutation: max(number, 1), Of: len(pool)}
	drawn := permuted(seed, kind, walk.Permutation, without(pool, taken))
	if len(drawn) < n {
		walk.Permutation++
		walk.Restarted = true
		old := map[string]bool{}
		for _, t := range drawn {
			old[t.InstanceID] = true
		}
		next := permuted(seed, kind, walk.Permutation, without(pool, old))[:n-len(drawn)]
		drawn, walk.Drawn = append(drawn, next...), len(next)
		return sorted(drawn), walk
	}
	drawn = drawn[:n]
	for _, t := range pool {
		if taken[t.InstanceID] {
			walk.Drawn++
		}
	}
	walk.Drawn += n
	return sorted(drawn), walk
}

// replay returns the number of the last permutation, and which of its tasks are drawn.
func replay(walked []relabel.WalkedDraw) (number int, taken map[string]bool) {
	taken = map[string]bool{}
	for _, w := range walked {
		begun := map[string]bool{} // of a permutation that began in this draw
		for _, id := range w.Instances {
			if taken[id] {
				begun[id] = true
			}
			taken[id] = true
		}
		if w.Walk.Restarted {
			taken = begun
		}
		number = w.Walk.Permutation
	}
	return number, taken
}

// permuted orders tasks along a permutation of the iterations of a kind.
func permuted(seed int64, kind relabel.IterationKind, number int, tasks []relabel.Task) []relabel.Task {
	return lowest(tasks, len(tasks), func(t relabel.Task) [32]byte {
		return digest(purposeOf(kind, "relabel/permutation"), seed, t.InstanceID, int64(number))
	})
}

func without(tasks []relabel.Task, taken map[string]bool) []relabel.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t relabel.Task) bool { return taken[t.InstanceID] })
}
