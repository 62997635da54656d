package schedule

import (
	"fmt"
	"slices"

	"relabel"
)

// withoutReserved removes the tasks that benchmarks reserve from the pool of a draw, and counts
// them. An iteration that only measures keeps them.
func withoutReserved(pool []relabel.Task, ask relabel.NewIteration) (open []relabel.Task, reserved int) {
	if ask.Measures() {
		return pool, 0
	}
	open = slices.DeleteFunc(slices.Clone(pool), func(t relabel.Task) bool { return ask.Reserved[t.ID] != "" })
	return open, len(pool) - len(open)
}

// refuseReserved refuses tasks that were named, in the field, if a benchmark reserves one: leaving
// it out would roll out other tasks than those asked for.
func refuseReserved(named []relabel.Task, ask relabel.NewIteration, field string) error {
	if ask.Measures() {
		return nil
	}
	for _, t := range named {
		if benchmark := ask.Reserved[t.ID]; benchmark != "" {
			return relabel.Errorf(relabel.CodeInvalid, "%q is a task of the benchmark %s, so it is not rolled out for training; allow_benchmarks with %[2]s allows it", t.InstanceID, benchmark).On(field)
		}
	}
	return nil
}

// noneOpen is the error of a draw from no task.
func noneOpen(reserved int) error {
	if reserved == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the task set has no task for training: all are held out").On("instances")
	}
	return relabel.Errorf(relabel.CodeInvalid, "there is no task for training: benchmarks reserve the %d tasks that are not held out; allow_benchmarks allows those of a benchmark", reserved).On("allow_benchmarks")
}

// besides names the reserved tasks in an error.
func besides(reserved int) string {
	if reserved == 0 {
		return ""
	}
	return fmt.Sprintf(", besides %d that benchmarks reserve", reserved)
}

// union returns the names in a and b, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
