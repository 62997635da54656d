package web

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"relabel"
)

// Which tasks an iteration rolls out, in words.
const (
	runsTasks      = "the run’s tasks"
	heldOutTasks   = "the held-out tasks"
	namedInstances = "named instances"
	sameDraw       = "those of another iteration"
)

// tasksOf are the choices for a kind of iteration. An evaluation never draws among the run's
// tasks, on which its student was trained.
func tasksOf(kind relabel.IterationKind) []string {
	if kind == relabel.Evaluate {
		return []string{heldOutTasks, namedInstances, sameDraw}
	}
	return []string{runsTasks, namedInstances, sameDraw}
}

// on is which tasks were chosen; by the kind where nothing, or something else, was.
func (b startBody) on(chosen url.Values) string {
	choices := tasksOf(b.Kind)
	if chosen.Get("again") != "" && chosen.Get("on") == "" {
		return sameDraw
	}
	for _, choice := range choices {
		if chosen.Get("on") == choice {
			return choice
		}
	}
	return choices[0]
}

// chooseTasks takes what was chosen of the tasks.
func (b *startBody) chooseTasks(chosen url.Values) (err error) {
	switch b.on(chosen) {
	case namedInstances:
		b.Instances = strings.Fields(chosen.Get("instances"))
		return nil
	case sameDraw:
		b.Again = strings.TrimSpace(chosen.Get("again"))
		return nil
	case heldOutTasks:
		b.HeldOut = true
	}
	b.Tasks, err = wholeNumber(chosen, "tasks")
	return err
}

// taskFields say which tasks are rolled out.
func (b startBody) taskFields(chosen url.Values, rounds []round) []operationField {
	on := b.on(chosen)
	fields := []operationField{{Name: "on", Label: "On", Value: on, Choices: tasksOf(b.Kind)}}
	switch on {
	case namedInstances:
		return append(fields, operationField{Name: "instances", Label: "Instances", Kind: "textarea", Value: chosen.Get("instances"), Help: "Instance ids, one per line."})
	case sameDraw:
		again := operationField{Name: "again", Label: "Iteration", Value: b.Again, Help: "Id of an iteration of a run of the same task set: exactly its tasks are rolled out again."}
		for i := len(rounds) - 1; i >= 0; i-- {
			if rounds[i].Kind == b.Kind {
				again.Offers = append(again.Offers, rounds[i].ID.String())
			}
		}
		return append(fields, again)
	}
	return append(fields, operationField{Name: "tasks", Label: "Tasks", Kind: "number", Value: chosen.Get("tasks"), Help: "How many to draw, another subset in each iteration; empty: all."})
}

func startFields(run relabel.Run, ask startBody, chosen url.Values, policies []string, rounds []round) []operationField {
	fields := []operationField{
		{Name: "student", Label: "Student", Value: ask.Student, Offers: policies, Help: "This round’s policy: its name, name@version or id. A new checkpoint is a new version of it: relabel policy add."},
		{Name: "kind", Label: "Kind", Value: string(ask.Kind), Choices: []string{string(relabel.Collect), string(relabel.Evaluate)}, Help: "collect: mixture rollouts with labels. evaluate: the student alone, greedy, without labels."},
	}
	fields = append(fields, ask.taskFields(chosen, rounds)...)
	fields = append(fields, operationField{Name: "generations", Label: "Rollouts a task", Kind: "number", Value: chosen.Get("generations"), Help: "Empty: 1, or as many as the iteration whose tasks are rolled out again."})
	if ask.Kind == relabel.Collect && run.Beta != nil {
		fields = append(fields, operationField{Name: "beta", Label: "β", Value: chosen.Get("beta"), Help: "The chance that the teacher executes a turn; empty: the schedule’s, " + betaWords(*run.Beta) + "."})
	}
	return fields
}

// countTrajectories is how many trajectories are drawn.
func (v *viewer) countTrajectories(ctx context.Context, run relabel.Run, ask startBody) (int, error) {
	if ask.Again != "" {
		id, err := relabel.ParseID("iteration", ask.Again)
		if err != nil {
			return 0, relabel.Errorf(relabel.CodeInvalid, "the id of an iteration is wanted").On("again")
		}
		draw, err := v.Store.FindDraw(ctx, id)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return 0, relabel.Errorf(relabel.CodeInvalid, "there is no such iteration").On("again")
		}
		return len(draw.Instances) * max(1, cmp.Or(ask.Generations, draw.Generations)), err
	}
	open, heldOut, err := v.Store.CountTasks(ctx, run.TasksetID)
	n := open
	switch {
	case len(ask.Instances) > 0:
		n = len(ask.Instances)
	case ask.Kind == relabel.Evaluate && !ask.HeldOut: // no task is chosen yet
		n = 0
	case ask.HeldOut:
		n = heldOut
	case len(run.Instances) > 0:
		n = len(run.Instances)
	}
	if ask.Tasks > 0 {
		n = min(n, ask.Tasks)
	}
	return n * max(1, ask.Generations), err
}
