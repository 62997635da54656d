package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
)

// ScriptedCommand is `relabel scripted`: the scripted teacher and students of the demo for any tasks, so that a run with
// them can be tried without a model.
type ScriptedCommand struct {
	TaskFile string `name:"tasks" required:"" type:"existingfile" placeholder:"FILE" help:"The tasks of the runs, as JSONL: the teacher has to know their gold patches."`
	Listen   string `default:"127.0.0.1:7789" help:"Address to serve the models on."`
}

// Run serves the models until the command is interrupted.
func (c *ScriptedCommand) Run(ctx context.Context, p *Ports) error {
	tasks, err := ReadTaskFile(c.TaskFile)
	if err != nil {
		return err
	}
	stop, err := p.ServeScripted(ctx, c.Listen, tasks)
	if err != nil {
		return relabel.Errorf(relabel.CodeUnavailable, "the scripted models cannot listen on %s; choose another address", c.Listen).On("--listen").Because(err)
	}
	defer stop()
	for _, line := range strings.Split(scriptedText("http://"+c.Listen+"/v1", len(tasks)), "\n") {
		say("%s", line)
	}
	<-ctx.Done()
	return nil
}

// scriptedText says which models are served, and how to use them.
func scriptedText(base string, tasks int) string {
	lines := []string{
		"Scripted models of %d tasks at %s: %s knows the gold patches, scripted-student-S acts like it with probability S (0 to 1).",
		"They are programs, not models: use them to try a run. Register them with",
		"  relabel policy add teacher --base-url %s --model %s",
		"  relabel policy add student --base-url %s --model %s",
		"Ctrl-C ends.",
	}
	return fmt.Sprintf(strings.Join(lines, "\n"), tasks, base, demoTeacher, base, demoTeacher, base, demoSkills[1])
}
