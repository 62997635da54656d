package tasks

import (
	"strings"

	"relabel"
)

// MarkHeldOut marks exactly the tasks with these instance ids as held out. If no task has one
// of the ids, it marks none and returns a relabel.CodeInvalid error that names the ids.
func MarkHeldOut(tasks []relabel.Task, instances []string) error {
	at := make(map[string]int, len(tasks))
	for i, t := range tasks {
		at[t.InstanceID] = i
	}
	var unknown []string
	for _, id := range instances {
		if _, ok := at[id]; !ok {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return relabel.Errorf(relabel.CodeInvalid, "no task is named %s", strings.Join(unknown, ", ")).On("held_out")
	}
	for i := range tasks {
		tasks[i].HeldOut = false
	}
	for _, id := range instances {
		tasks[at[id]].HeldOut = true
	}
	return nil
}
