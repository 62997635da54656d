package schedule

import (
	"bytes"
	"cmp"
	"slices"

	"relabel"
)

// DrawTasks draws n of tasks for an iteration, without replacement and by the run's seed; all if
// there are no more than n. All evaluations of a run draw the same tasks, so that they can be compared.
// The draw does not depend on the order of tasks; the result is ordered by instance id.
func DrawTasks(seed int64, kind relabel.IterationKind, iteration int, tasks []relabel.Task, n int) []relabel.Task {
	if kind == relabel.Evaluate {
		iteration = 0
	}
	return sorted(lowest(tasks, n, func(t relabel.Task) [32]byte {
		return digest(purposeOf(kind, "relabel/tasks"), seed, t.InstanceID, int64(iteration))
	}))
}

// sorted sorts tasks by instance id.
func sorted(tasks []relabel.Task) []relabel.Task {
	slices.SortFunc(tasks, func(a, b relabel.Task) int { return cmp.Compare(a.InstanceID, b.InstanceID) })
	return tasks
}

// DrawHeldOut draws the n instances that are held out, without replacement and by seed; all if there
// are no more than n. The draw does not depend on the order of instances; the result is sorted.
func DrawHeldOut(seed int64, instances []string, n int) []string {
	drawn := lowest(instances, n, func(id string) [32]byte { return digest("relabel/heldout", seed, id) })
	slices.Sort(drawn)
	return drawn
}

// lowest returns the n items with the lowest digests. Digests are like independent uniform numbers,
// so every set of n has the same chance.
func lowest[T any](items []T, n int, key func(T) [32]byte) []T {
	type keyed struct {
		key  [32]byte
		item T
	}
	all := make([]keyed, len(items))
	for k, item := range items {
		all[k] = keyed{key(item), item}
	}
	slices.SortFunc(all, func(a, b keyed) int { return bytes.Compare(a.key[:], b.key[:]) })
	drawn := make([]T, 0, max(0, min(n, len(all))))
	for _, k := range all[:cap(drawn)] {
		drawn = append(drawn, k.item)
	}
	return drawn
}
