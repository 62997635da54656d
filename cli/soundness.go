package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// TasksSoundness is `relabel tasks soundness SET`.
type TasksSoundness struct {
	ClientFlags
	api.SoundnessQuery
	Taskset string `arg:"" help:"Name or id of a task set."`
	Log     string `placeholder:"INSTANCE" help:"Instead of the table, print the logs of the newest validation of an instance."`
	JSON    bool   `name:"json" help:"Print counts and tasks as JSON."`
}

// Run prints the counts and a table of the tasks.
func (c *TasksSoundness) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		counts, err := cl.CountSoundness(ctx, set.ID.String(), c.Revision)
		if err != nil {
			return err
		}
		tasks, err := cl.ListSoundness(ctx, set.ID.String(), c.SoundnessQuery)
		if err != nil {
			return err
		}
		switch {
		case c.Log != "":
			return printLogs(ctx, cl, tasks, c.Log)
		case c.JSON:
			return printJSON(map[string]any{"counts": counts, "tasks": tasks})
		}
		say("%s", countWords(set.Name, counts))
		return printTable(tasks, []string{"INSTANCE", "STATE", "GOLD PASSED", "EMPTY PASSED", "P50 S", "P95 S", "FLAKY TESTS", "EXCLUDED", "PROBLEM"}, soundnessCells)
	})
}

// countWords sums up a task set.
func countWords(name string, n relabel.SoundnessCounts) string {
	text := fmt.Sprintf("%s, revision %d: %s, %d sound, %d flaky, %d broken, %d not validated because of the infrastructure, %d not validated, %d excluded%s.",
		name, n.Revision, counted(n.Tasks, "task"), n.Sound, n.Flaky, n.Broken, n.Infra, n.Unvalidated, n.Excluded, reasonWords(n.Reasons))
	if n.RunSeconds != nil {
		text += fmt.Sprintf(" A run takes %.1f s (p50), %.1f s (p95).", n.RunSeconds.P50, n.RunSeconds.P95)
	}
	return text
}

func soundnessCells(t relabel.TaskSoundness) []any {
	v := t.Validation
	if v == nil {
		return []any{t.InstanceID, t.State, "", "", "", "", "", t.Excluded, ""}
	}
	var flaky []string
	for _, f := range v.Flaky {
		flaky = append(flaky, f.Test)
	}
	p50, p95 := "", ""
	if s := t.RunSeconds; s != nil {
		p50, p95 = fmt.Sprintf("%.1f", s.P50), fmt.Sprintf("%.1f", s.P95)
	}
	return []any{t.InstanceID, t.State, v.Passes(relabel.GoldPatch), v.Passes(relabel.EmptyPatch), p50, p95, strings.Join(flaky, " "), t.Excluded, v.Problem}
}

// printLogs prints the logs of the validation of an instance.
func printLogs(ctx context.Context, cl *Session, tasks []relabel.TaskSoundness, instance string) error {
	t := Find(tasks, func(t relabel.TaskSoundness) bool { return t.InstanceID == instance })
	if t == nil || t.Validation == nil {
		return relabel.Errorf(relabel.CodeNotFound, "there is no validation of %q here", instance).On("--log")
	}
	for _, r := range t.Validation.Runs {
		say("==> %s patch, run %d: %s%s, %.1f s", r.Patch, r.Number, r.Reason, r.Infra, float64(r.Millis)/1000)
		if r.LogBytes == 0 {
			continue
		}
		log, err := cl.ValidationLog(ctx, t.Validation.ID, r.Patch, r.Number)
		if err != nil {
			return err
		}
		fmt.Println(safetext.Terminal(log))
	}
	return nil
}

// TasksShow is `relabel tasks show SET`.
type TasksShow struct {
	ClientFlags
	Taskset string `arg:"" help:"Name or id of a task set."`
	JSON    bool   `name:"json" help:"Print it as JSON."`
}

// Run prints a task set, its revisions and how many of its tasks are sound.
func (c *TasksShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		counts, err := cl.CountSoundness(ctx, set.ID.String(), 0)
		if err != nil {
			return err
		}
		revisions, err := cl.TasksetRevisions(ctx, set.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(map[string]any{"taskset": set, "soundness": counts, "revisions": revisions})
		}
		say("%s  %s, %s", set.ID, set.Name, set.Kind.Words())
		say("%s", countWords(set.Name, counts))
		return printTable(revisions, []string{"REVISION", "CHANGE", "CHANGED", "TASKS", "HELD OUT", "EXCLUDED", "MADE"}, func(r relabel.TasksetRevision) []any {
			return []any{r.Revision, r.Change, r.Changed, r.Tasks, r.HeldOut, r.Excluded, r.CreatedAt}
		})
	})
}

// TasksExclude is `relabel tasks exclude SET INSTANCE…`.
type TasksExclude struct {
	ClientFlags
	Taskset   string   `arg:"" help:"Name or id of a task set."`
	Instances []string `arg:"" name:"instance" query:"tasks" help:"Instance ids of the tasks."`
	Reason    string   `required:"" help:"Why no run shall draw them; every figure names it beside its denominator."`
}

// Run excludes the tasks in a new revision.
func (c *TasksExclude) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		var tasks []relabel.ExcludedTask
		for _, name := range c.Instances {
			tasks = append(tasks, relabel.ExcludedTask{InstanceID: name, Reason: c.Reason})
		}
		return sayRevised(cl.ExcludeTasks(ctx, set.ID, tasks))
	})
}

// TasksInclude is `relabel tasks include SET INSTANCE…`.
type TasksInclude struct {
	ClientFlags
	Taskset   string   `arg:"" help:"Name or id of a task set."`
	Instances []string `arg:"" name:"instance" query:"instances" help:"Instance ids of excluded tasks."`
}

// Run ends the exclusion of the tasks in a new revision.
func (c *TasksInclude) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		set, err := findTaskset(ctx, cl, c.Taskset)
		if err != nil {
			return err
		}
		return sayRevised(cl.IncludeTasks(ctx, set.ID, c.Instances))
	})
}

func sayRevised(set relabel.Taskset, err error) error {
	if err != nil {
		return err
	}
	say("%s has revision %d now: %s, %d excluded. Runs and benchmarks that exist keep their revision.", set.Name, set.Revision, counted(set.Tasks, "task"), set.Excluded)
	return nil
}
