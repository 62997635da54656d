// Package terminal is the scaffold of tasks in a terminal: the tools of package openhands in a container without a
// repository. A rollout ends with the task's own tests in the same container; see package reward.
package terminal

import (
	"context"
	_ "embed"

	"relabel"
	"relabel/envs"
	"relabel/envs/reward"
	"relabel/envs/scaffold/openhands"
)

// Name is the value of a run's Scaffold for this scaffold.
const Name = "terminal"

//go:embed texts/system.txt
var systemText string

//go:embed texts/first.txt
var firstText string

//go:embed texts/execute_bash.txt
var bashText string

// toolBash is the tool whose description differs from that of package openhands.
const toolBash = "execute_bash"

// DefaultPrompts are the default texts of a run: system prompt, first user message and the three tools.
func DefaultPrompts() relabel.Prompts {
	p := relabel.Prompts{System: systemText, First: firstText, Tools: openhands.DefaultPrompts().Tools}
	for i := range p.Tools {
		if p.Tools[i].Name == toolBash {
			p.Tools[i].Description = bashText
		}
	}
	return p
}

// Episode is one sandbox with the scaffold around it, for one goroutine at a time.
type Episode struct {
	*openhands.Episode
	owner context.Context // of the sandbox
	task  relabel.TerminalTask
	run   relabel.RunLimits
}

// Start makes a sandbox for the claim's attempt, ready for the first turn. Errors are CodeImageMissing or
// CodeEnvironment.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (*Episode, error) {
	if claim.Task.Terminal == nil || len(claim.Task.Terminal.Tests.Content) == 0 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the task %s has no tests", claim.Task.InstanceID)
	}
	e, err := openhands.Open(ctx, host, claim, reward.Spec(claim.Task), reward.Environment(*claim.Task.Terminal))
	if err != nil {
		return nil, err
	}
	return &Episode{Episode: e, owner: ctx, task: *claim.Task.Terminal, run: claim.Run.Limits}, nil
}

// Patch ends the agent's processes and rewards the state of the container: the submission is the outcome, as
// reward.Grade reads it. The time limit of the tests applies instead of the rollout's wall clock, as its end is
// rewarded too. Errors are CodeEnvironment, or CodeDisk if commands filled the disk.
func (e *Episode) Patch(context.Context) (submission []byte, applies bool, err error) {
	outcome, err := reward.Run(e.owner, e.Files(), e.task, e.run)
	if err != nil {
		return nil, false, err
	}
	submission, err = outcome.Encode()
	return submission, err == nil, err
}
