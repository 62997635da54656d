package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"relabel"
	"relabel/api"
)

// validateSet validates the tasks of an imported task set on this machine and stores each result as it ends. It skips
// excluded tasks that --only does not name.
func (c *TasksValidate) validateSet(ctx context.Context, p *Ports, cl *Session) error {
	set, err := findTaskset(ctx, cl, c.Taskset)
	if err != nil {
		return err
	}
	all, err := cl.Tasks(ctx, set.ID)
	if err != nil {
		return err
	}
	tasks, err := onlyThese(all, c.Only)
	if err != nil {
		return err
	}
	if len(c.Only) == 0 {
		tasks = slices.DeleteFunc(slices.Clone(tasks), func(t relabel.Task) bool { return t.Excluded != "" })
	}
	if skipped := len(all) - len(tasks); skipped > 0 && len(c.Only) == 0 {
		fmt.Fprintf(os.Stderr, "Excluded and not validated: %s.\n", counted(skipped, "task"))
	}
	if len(tasks) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the task set has no task to validate")
	}
	if set.Kind == relabel.Localise {
		return validateLocalise(ctx, p, c.MirrorFlags, tasks)
	}
	if set.Kind == relabel.Terminal {
		return relabel.Errorf(relabel.CodeInvalid, "has tasks in a terminal, whose solutions the service does not send. Validate the folder that they were imported from, "+
			"`relabel tasks validate FOLDER --times %d`, and exclude what is not sound: `relabel tasks exclude %s INSTANCE… --reason TEXT`", c.Times, set.Name).On("--taskset")
	}
	known, err := c.knownOf(ctx, cl, set, tasks)
	if err != nil {
		return err
	}
	found, err := c.run(ctx, p, tasks, known, func(ctx context.Context, task relabel.Task, v relabel.Validation) error {
		_, err := cl.CreateValidation(ctx, set.ID, newValidation(task, v))
		return err
	})
	if err != nil {
		return err
	}
	if err := c.print(tasks, found, fmt.Sprintf("Logs: `relabel tasks soundness %s --log INSTANCE`", set.Name)); err != nil {
		return err
	}
	if err := c.reviseSet(ctx, cl, set, tasks, found); err != nil {
		return err
	}
	return failUnlessSound(found)
}

// knownOf returns the stored results of tasks with at least as many runs and the same time limit, by instance id.
func (c *TasksValidate) knownOf(ctx context.Context, cl *Session, set relabel.Taskset, tasks []relabel.Task) (map[string]relabel.Validation, error) {
	known := map[string]relabel.Validation{}
	if c.Again {
		return known, nil
	}
	stored, err := cl.ListSoundness(ctx, set.ID.String(), api.SoundnessQuery{})
	if err != nil {
		return nil, err
	}
	byTask := map[relabel.ID]*relabel.Validation{}
	for _, t := range stored {
		byTask[t.TaskID] = t.Validation
	}
	for _, t := range tasks {
		v := byTask[t.ID]
		if v != nil && v.Times >= c.Times && v.VerifySeconds == c.VerifySeconds && v.State != relabel.TaskInfra {
			known[t.InstanceID] = *v
		}
	}
	return known, nil
}

// sentLogs bounds the packed logs of one validation, in bytes, so that a request has room for them.
const sentLogs = 2 << 20

// newValidation is the request that stores a result. Logs that are too large together keep their beginnings and ends.
func newValidation(task relabel.Task, v relabel.Validation) api.NewValidation {
	n := api.NewValidation{TaskID: task.ID, Times: v.Times, VerifySeconds: v.VerifySeconds, State: v.State, Reason: v.Reason, Problem: v.Problem, Flaky: v.Flaky,
		Runs: []api.NewValidationRun{}}
	for limit := relabel.MaxValidationLog; ; limit /= 2 {
		n.Runs = n.Runs[:0]
		total := 0
		for _, r := range v.Runs {
			packed := relabel.PackLog(r.Log, limit)
			total += len(packed)
			n.Runs = append(n.Runs, api.NewValidationRun{ValidationRun: r, LogGzip: packed})
		}
		if total <= sentLogs {
			return n
		}
	}
}

// mostRevised is how many tasks one request changes.
const mostRevised = 1000

// reviseSet drops flaky tests and excludes broken tasks, where that was asked for. Tasks that are excluded stay so.
func (c *TasksValidate) reviseSet(ctx context.Context, cl *Session, set relabel.Taskset, tasks []relabel.Task, found map[string]relabel.Validation) error {
	var flaky []string
	var broken []relabel.ExcludedTask
	for _, task := range tasks {
		v := found[task.InstanceID]
		switch {
		case v.State == relabel.TaskFlaky:
			flaky = append(flaky, task.InstanceID)
		case v.State == relabel.TaskBroken && task.Excluded == "":
			broken = append(broken, relabel.ExcludedTask{InstanceID: task.InstanceID, Reason: cutText(string(v.Reason)+": "+v.Problem, longestReason)})
		}
	}
	if c.DropFlaky {
		for some := range slices.Chunk(flaky, mostRevised) {
			revised, err := cl.DropFlaky(ctx, set.ID, some)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "Revision %d of %s: %s without flaky tests.\n", revised.Revision, revised.Name, counted(len(some), "task"))
		}
	}
	if c.ExcludeBroken {
		for some := range slices.Chunk(broken, mostRevised) {
			revised, err := cl.ExcludeTasks(ctx, set.ID, some)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "Revision %d of %s: %s newly excluded, %d of %d in all.\n", revised.Revision, revised.Name, counted(len(some), "task"), revised.Excluded, revised.Tasks)
		}
	}
	return nil
}

// longestReason is the longest reason of an exclusion, in characters.
const longestReason = 1000

func cutText(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
