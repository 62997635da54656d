// Package scaffold chooses the tools and prompts of a run by the name of its scaffold.
package scaffold

import (
	"context"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/bare"
	"relabel/envs/scaffold/openhands"
)

// Episode is one sandbox with a scaffold around it; package mixer describes its methods.
type Episode interface {
	Execute(ctx context.Context, t int, action relabel.Message) (obs []relabel.Observation, finished bool, err error)
	Tree(ctx context.Context) (string, error)
	Patch(ctx context.Context) (diff []byte, applies bool, err error)
	Sandbox() (dockerHost, container string)
	Close(ctx context.Context) error
}

// PromptsOf returns the default prompts of a scaffold by its name. CodeInvalid for an unknown one.
func PromptsOf(name string) (relabel.Prompts, error) {
	switch name {
	case openhands.Name:
		return openhands.DefaultPrompts(), nil
	case bare.Name:
		return bare.DefaultPrompts(), nil
	}
	return relabel.Prompts{}, relabel.Errorf(relabel.CodeInvalid, "the scaffold %q does not exist; available: %q, %q", name, openhands.Name, bare.Name).On("scaffold")
}

// CheckPrompts checks a run's own texts. Errors are CodeInvalid and name the field.
func CheckPrompts(run relabel.Run) error {
	if run.Scaffold == bare.Name {
		return bare.CheckPrompts(run.Prompts)
	}
	return openhands.CheckPrompts(run.Prompts)
}

// Start makes a sandbox for the claim's attempt, ready for the first turn; see openhands.Start.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (Episode, error) {
	if claim.Run.Scaffold == bare.Name {
		e, err := bare.Start(ctx, host, claim)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	e, err := openhands.Start(ctx, host, claim)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Cut returns what a run's models read when an answer was cut by the length limit; "" for the default.
func Cut(run relabel.Run) string {
	if run.Scaffold == bare.Name {
		return bare.NotParsed
	}
	return ""
}

// Parse classifies an action of a run without running it.
func Parse(run relabel.Run, action relabel.Message) relabel.ParseOutcome {
	if run.Scaffold == bare.Name {
		return bare.Parse(run.Prompts.Tools, action)
	}
	return openhands.Parse(run.Prompts.Tools, action)
}
