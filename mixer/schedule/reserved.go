package schedule

import (
	"fmt"
	"slices"
	"strings"

	"relabel"
)

// reserved are the tasks that a draw excludes since benchmarks or exclusion lists reserve them.
type reserved struct {
	tasks int
	by    []string // names of the benchmarks, sorted
}

// withoutReserved removes the tasks that benchmarks reserve from the pool of a draw, and counts
// them. An iteration that only measures keeps them.
func withoutReserved(pool []relabel.Task, ask relabel.NewIteration) (open []relabel.Task, left reserved) {
	if ask.Measures() {
		return pool, left
	}
	for _, t := range pool {
		benchmark := ask.Reserved[t.ID]
		if benchmark == "" {
			open = append(open, t)
			continue
		}
		left.tasks++
		left.by = append(left.by, benchmark)
	}
	left.by = union(left.by, nil)
	return open, left
}

// refuseReserved refuses tasks that were named, in the field, if a benchmark reserves one: leaving
// it out would roll out other tasks than those asked for.
func refuseReserved(named []relabel.Task, ask relabel.NewIteration, field string) error {
	if ask.Measures() {
		return nil
	}
	for _, t := range named {
		if benchmark := ask.Reserved[t.ID]; benchmark != "" {
			return relabel.Errorf(relabel.CodeInvalid, "%q is reserved by %s, a benchmark or exclusion list, so it is not rolled out for training; allow_benchmarks (--allow-benchmark) with %[2]s allows it", t.InstanceID, benchmark).On(field)
		}
	}
	return nil
}

// noneOpen is the error of a draw from no task.
func noneOpen(left reserved) error {
	if left.tasks == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the task set has no task for training: all are held out").On("instances")
	}
	return relabel.Errorf(relabel.CodeInvalid, "there is no task for training: the benchmarks and exclusion lists %s reserve the %d tasks that are not held out; allow_benchmarks with a name allows those of one", strings.Join(left.by, ", "), left.tasks).On("allow_benchmarks")
}

// besides names the reserved tasks in an error.
func besides(left reserved) string {
	if left.tasks == 0 {
		return ""
	}
	return fmt.Sprintf(", besides %d that the benchmarks and exclusion lists %s reserve", left.tasks, strings.Join(left.by, ", "))
}

// union returns the names in a and b, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
