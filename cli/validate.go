package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/safetext"
)

// TasksValidate is `relabel tasks validate FILE`. It needs no database, and Docker only for tasks to repair.
type TasksValidate struct {
	DockerFlags
	MirrorFlags
	File     string   `arg:"" type:"existingpath" help:"JSONL file, one task per line, or task folders of Harbor."`
	Only     []string `placeholder:"INSTANCE" help:"Only these instances."`
	Parallel int      `default:"2" help:"Tasks at once."`
}

// Run validates and prints a table. It fails if a task is not sound.
func (c *TasksValidate) Run(ctx context.Context, p *Ports) error {
	tasks, err := ReadTaskFile(c.File)
	if err != nil {
		return err
	}
	if tasks, err = onlyThese(tasks, c.Only); err != nil {
		return err
	}
	if tasks[0].Kind == relabel.Localise {
		return validateLocalise(ctx, p, c.MirrorFlags, tasks)
	}
	validate, closeDocker, err := p.OpenValidation(ctx, c.DockerFlags)
	if err != nil {
		return err
	}
	return errors.Join(validateTasks(ctx, validate, tasks, c.Parallel), closeDocker())
}

// onlyThese returns the named tasks. An unknown name is an error.
func onlyThese(tasks []relabel.Task, names []string) ([]relabel.Task, error) {
	if len(names) == 0 {
		return tasks, nil
	}
	var kept []relabel.Task
	for _, name := range names {
		t := Find(tasks, func(t relabel.Task) bool { return t.InstanceID == name })
		if t == nil {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the file has no instance %q", name).On("--only")
		}
		kept = append(kept, *t)
	}
	return kept, nil
}

// validateTasks validates tasks concurrently and prints a table.
func validateTasks(ctx context.Context, validate ValidateTask, tasks []relabel.Task, parallel int) error {
	results := make([]relabel.Validation, len(tasks))
	var g errgroup.Group
	g.SetLimit(max(1, parallel))
	for i, task := range tasks {
		g.Go(func() (err error) {
			results[i], err = validate(ctx, task)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t := newTable("INSTANCE", "GOLD PATCH", "EMPTY PATCH", "FAIL_TO_PASS", "PASS_TO_PASS", "SECONDS", "SOUND")
	sound := true
	for i, task := range tasks {
		r := results[i]
		sound = sound && r.Sound()
		t.row(task.InstanceID, verdictWord(r.Gold), verdictWord(r.Empty), len(task.FailToPass), len(task.PassToPass), fmt.Sprintf("%.1f", r.Seconds), r.Sound())
	}
	if err := t.print(); err != nil {
		return err
	}
	for i, task := range tasks {
		if !results[i].Sound() {
			fmt.Printf("\n%s: %s\n%s", task.InstanceID, results[i].Problem, lastOutput(results[i]))
		}
	}
	if !sound {
		return ErrSomeFailed
	}
	return nil
}

// outputLines is the number of log lines that are printed with a problem.
const outputLines = 12

// marks are the verifier's lines around a test log.
var marks = regexp.MustCompile(`(?m)^[0-9a-f]{32} (begin|end \d+)$`)

// lastOutput returns the last lines of the log that a problem concerns, indented.
func lastOutput(r relabel.Validation) string {
	v := r.Gold
	if v.Passed {
		v = r.Empty
	}
	lines := strings.Split(strings.TrimSpace(marks.ReplaceAllString(string(v.Output), "")), "\n")
	var text strings.Builder
	for _, line := range lines[max(0, len(lines)-outputLines):] {
		if line != "" {
			fmt.Fprintf(&text, "    %s\n", safetext.TerminalLine(line))
		}
	}
	return text.String()
}

// verdictWord describes a verdict.
func verdictWord(v relabel.Verdict) string {
	switch {
	case v.Infra != "":
		return "infrastructure error"
	case v.Passed:
		return "passed"
	}
	return "not passed (" + string(v.Reason) + ")"
}
