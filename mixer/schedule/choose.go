package schedule

import (
	"cmp"
	"slices"

	"relabel"
)

// drawn are the tasks of an iteration.
type drawn struct {
	tasks    []relabel.Task
	reserved reserved      // tasks that the draw excluded
	walk     *relabel.Walk // its place in the permutations of the run; nil if it does not draw along them
}

// choose returns the tasks of an iteration, at least one, ordered by instance id.
func choose(run relabel.Run, it relabel.Iteration, ask relabel.NewIteration, tasks []relabel.Task) (chosen drawn, err error) {
	var pool []relabel.Task
	switch {
	case ask.OnBenchmark != nil:
		return drawn{tasks: sorted(slices.Clone(tasks))}, nil
	case ask.Again != nil:
		if pool, err = drawnAgain(*ask.Again, it.Kind, within(run, it.Kind, tasks)); err == nil {
			err = refuseReserved(pool, ask, "again")
		}
		return drawn{tasks: pool}, err
	case len(ask.Instances) > 0:
		if pool, err = named(ask.Instances, it.Kind, within(run, it.Kind, tasks)); err == nil {
			err = refuseReserved(pool, ask, "instances")
		}
	case ask.HeldOut:
		pool = heldOut(tasks, true)
	case len(run.Instances) > 0:
		pool, err = named(run.Instances, it.Kind, tasks)
	default:
		pool = heldOut(tasks, false)
	}
	if err != nil {
		return drawn{}, err
	}
	if pool, chosen.reserved = withoutReserved(pool, ask); len(pool) == 0 {
		if ask.HeldOut {
			return drawn{}, relabel.Errorf(relabel.CodeInvalid, "the task set has no held-out task: import it with some (held_out_count), or name instances").On("held_out")
		}
		return drawn{}, noneOpen(chosen.reserved)
	}
	if ask.Tasks > len(pool) {
		return drawn{}, tooMany(run, ask, len(pool), chosen.reserved)
	}
	switch {
	case run.Draw == relabel.DrawPermutation && !ask.Measures() && len(ask.Instances) == 0:
		walked, walk := WalkTasks(run.Seed, it.Kind, ask.Walked, pool, cmp.Or(ask.Tasks, len(pool)))
		chosen.tasks, chosen.walk = walked, &walk
	case ask.Tasks > 0 && ask.Measures(): // the tasks of the run's evaluations
		chosen.tasks = DrawTasks(run.Seed, relabel.Evaluate, it.Number, pool, ask.Tasks)
	case ask.Tasks > 0:
		chosen.tasks = DrawTasks(run.Seed, it.Kind, it.Number, pool, ask.Tasks)
	default:
		chosen.tasks = sorted(pool)
	}
	return chosen, nil
}

// tooMany refuses a number of tasks, and says if it is the run's own.
func tooMany(run relabel.Run, ask relabel.NewIteration, pool int, left reserved) error {
	whose := ""
	if ask.Tasks == run.TasksPerRound && !ask.Measures() {
		whose = ", the run's tasks_per_round"
		if run.Preset != "" {
			whose += " with the preset " + run.Preset
		}
	}
	return relabel.Errorf(relabel.CodeInvalid, "is %d%s; there are %d tasks to draw from%s: give at most that many", ask.Tasks, whose, pool, besides(left)).On("tasks")
}

// drawnAgain returns the tasks of another iteration's draw, all of them or none.
func drawnAgain(draw relabel.Draw, kind relabel.IterationKind, tasks []relabel.Task) ([]relabel.Task, error) {
	found := byInstance(tasks)
	pool := make([]relabel.Task, 0, len(draw.Instances))
	var gone []string
	for _, id := range draw.Instances {
		task, ok := found[id]
		switch {
		case !ok:
			gone = append(gone, id)
		case task.Excluded != "":
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q of iteration %s is excluded: %s", id, draw.IterationID, task.Excluded).On("again")
		case task.HeldOut && kind != relabel.Evaluate:
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q of iteration %s is held out: it is never rolled out for training", id, draw.IterationID).On("again")
		default:
			pool = append(pool, task)
		}
	}
	if len(gone) > 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%d of the %d tasks of iteration %s are no longer among the run's tasks, %q first", len(gone), len(draw.Instances), draw.IterationID, gone[0]).On("again")
	}
	return pool, nil
}

// within returns the tasks that a request may name: those of the run's selection; in an
// evaluation, all.
func within(run relabel.Run, kind relabel.IterationKind, tasks []relabel.Task) []relabel.Task {
	if kind == relabel.Evaluate || len(run.Instances) == 0 {
		return tasks
	}
	selected := make(map[string]bool, len(run.Instances))
	for _, id := range run.Instances {
		selected[id] = true
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t relabel.Task) bool { return !selected[t.InstanceID] })
}

// heldOut returns the tasks that are held out, or the others, without excluded ones.
func heldOut(tasks []relabel.Task, is bool) []relabel.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t relabel.Task) bool { return t.HeldOut != is || t.Excluded != "" })
}

func byInstance(tasks []relabel.Task) map[string]relabel.Task {
	found := make(map[string]relabel.Task, len(tasks))
	for _, t := range tasks {
		found[t.InstanceID] = t
	}
	return found
}

// named finds tasks by their instance ids. A held-out task is an error except in an evaluation.
func named(instances []string, kind relabel.IterationKind, tasks []relabel.Task) ([]relabel.Task, error) {
	byID := byInstance(tasks)
	found := make([]relabel.Task, 0, len(instances))
	for _, id := range instances {
		task, ok := byID[id]
		switch {
		case !ok:
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q is not a task of this run, or is named twice", id).On("instances")
		case task.Excluded != "":
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q is excluded: %s", id, task.Excluded).On("instances")
		case task.HeldOut && kind != relabel.Evaluate:
			return nil, relabel.Errorf(relabel.CodeInvalid, "%q is held out: it is never rolled out for training", id).On("instances")
		}
		delete(byID, id)
		found = append(found, task)
	}
	return found, nil
}
