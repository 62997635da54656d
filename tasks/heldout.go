package tasks

import (
	"strings"

	"relabel"
)

// MarkHeldOut marks the tasks with these instance ids as held out, and no other. It
// returns a relabel.CodeInvalid error naming the ids that no task has, and then marks none.
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
