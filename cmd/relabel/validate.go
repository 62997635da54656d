package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/cli"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/verify"
	"relabel/policy"
)

// tasksValidate is `relabel tasks validate FILE`. It needs Docker but no database.
type tasksValidate struct {
	dockerFlags
	File     string   `arg:"" type:"existingfile" help:"JSONL file, one task per line."`
	Only     []string `placeholder:"INSTANCE" help:"Only these instances."`
	Parallel int      `default:"2" help:"Tasks at once."`
}

// Run validates and prints a table; it fails when a task is not sound.
func (c *tasksValidate) Run(ctx context.Context) error {
	tasks, err := cli.ReadTaskFile(c.File)
	if err != nil {
		return err
	}
	if tasks, err = onlyThese(tasks, c.Only); err != nil {
		return err
	}
	images, err := c.imagesFrom(policy.Secrets{})
	if err != nil {
		return err
	}
	host, err := c.openFleet(ctx, docker.Config{Instance: "validate", Images: images}, newLog())
	if err != nil {
		return err
	}
	return errors.Join(validateTasks(ctx, host, tasks, c.Parallel), host.Close())
}

// onlyThese keeps the named tasks; a name that there is not is an error.
func onlyThese(tasks []relabel.Task, names []string) ([]relabel.Task, error) {
	if len(names) == 0 {
		return tasks, nil
	}
	var kept []relabel.Task
	for _, name := range names {
		t := cli.Find(tasks, func(t relabel.Task) bool { return t.InstanceID == name })
		if t == nil {
			return nil, relabel.Errorf(relabel.CodeNotFound, "the file has no instance %q", name).On("--only")
		}
		kept = append(kept, *t)
	}
	return kept, nil
}

// validateTasks runs both patches of each task, some tasks at once, and prints a table.
func validateTasks(ctx context.Context, host envs.Host, tasks []relabel.Task, parallel int) error {
	results := make([]verify.Validation, len(tasks))
	var g errgroup.Group
	g.SetLimit(max(1, parallel))
	v := verify.New(host)
	for i, task := range tasks {
		g.Go(func() (err error) {
			results[i], err = v.Validate(ctx, task, relabel.PaperLimits)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t := cli.NewTable("INSTANCE", "GOLD PATCH", "EMPTY PATCH", "FAIL_TO_PASS", "PASS_TO_PASS", "SECONDS", "SOUND")
	sound := true
	for i, task := range tasks {
		r := results[i]
		sound = sound && r.Sound()
		t.Row(task.InstanceID, verdictWord(r.Gold), verdictWord(r.Empty), len(task.FailToPass), len(task.PassToPass), fmt.Sprintf("%.1f", r.Seconds), cli.Yes(r.Sound()))
	}
	if err := t.Print(); err != nil {
		return err
	}
	for i, task := range tasks {
		if results[i].Problem != "" {
			fmt.Printf("\n%s: %s\n%s", task.InstanceID, results[i].Problem, lastOutput(results[i]))
		}
	}
	if !sound {
		return cli.ErrSomeFailed
	}
	return nil
}

// outputLines is how much of a log is shown below a problem.
const outputLines = 12

// marks are the verifier's own lines around a test log.
var marks = regexp.MustCompile(`(?m)^[0-9a-f]{32} (begin|end \d+)$`)

// lastOutput is the end of what the trial wrote that a problem is about, indented.
func lastOutput(r verify.Validation) string {
	v := r.Gold
	if v.Passed {
		v = r.Empty
	}
	lines := strings.Split(strings.TrimSpace(marks.ReplaceAllString(string(v.Output), "")), "\n")
	var text strings.Builder
	for _, line := range lines[max(0, len(lines)-outputLines):] {
		if line != "" {
			fmt.Fprintf(&text, "    %s\n", strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
	return text.String()
}

// verdictWord says a verdict in a word or two.
func verdictWord(v relabel.Verdict) string {
	switch {
	case v.Infra != "":
		return "infrastructure error"
	case v.Passed:
		return "passed"
	}
	return "not passed (" + string(v.Reason) + ")"
}
