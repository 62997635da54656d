// Package scaffold chooses the tools and prompts of a run by the name of its scaffold.
package scaffold

import (
	"context"
	"strings"

	"relabel"
	"relabel/envs"
	"relabel/envs/scaffold/bare"
	"relabel/envs/scaffold/imported"
	"relabel/envs/scaffold/openhands"
	"relabel/envs/scaffold/reposearcher"
	"relabel/envs/scaffold/terminal"
)

// Episode is one sandbox with a scaffold around it; package mixer describes its methods.
type Episode interface {
	Execute(ctx context.Context, t int, action relabel.Message) (obs []relabel.Observation, finished bool, err error)
	Tree(ctx context.Context) (string, error)
	Patch(ctx context.Context) (diff []byte, applies bool, err error)
	Sandbox() (dockerHost, container string)
	Close(ctx context.Context) error
}

// scaffold is one scaffold by name.
type scaffold struct {
	name    string
	kind    relabel.TaskKind
	prompts func() relabel.Prompts
}

// scaffolds lists all scaffolds, the default one of a kind of task before others of the kind.
var scaffolds = []scaffold{
	{openhands.Name, relabel.Repair, openhands.DefaultPrompts},
	{bare.Name, relabel.Repair, bare.DefaultPrompts},
	{reposearcher.Name, relabel.Localise, reposearcher.DefaultPrompts},
	{terminal.Name, relabel.Terminal, terminal.DefaultPrompts},
}

// Choose returns the name and the default prompts of the scaffold of a run with tasks of a kind; name may
// be empty for the kind's default. CodeInvalid if there is no such scaffold for the kind.
func Choose(name string, kind relabel.TaskKind) (string, relabel.Prompts, error) {
	var names []string
	for _, s := range scaffolds {
		if s.kind != kind {
			continue
		}
		if name == "" || name == s.name {
			return s.name, s.prompts(), nil
		}
		names = append(names, s.name)
	}
	return "", relabel.Prompts{}, relabel.Errorf(relabel.CodeInvalid, "%.100q is not a scaffold for %s; available: %s", name, kind.Words(), strings.Join(names, ", ")).On("scaffold")
}

// CheckPrompts checks a run's own texts. Errors are CodeInvalid and name the field.
func CheckPrompts(run relabel.Run) error {
	switch run.Scaffold {
	case bare.Name:
		return bare.CheckPrompts(run.Prompts)
	case reposearcher.Name:
		return reposearcher.CheckPrompts(run.Prompts)
	}
	return openhands.CheckPrompts(run.Prompts)
}

// Start makes a sandbox for the claim's attempt at a task to repair or in a terminal, ready for the first turn; see
// openhands.Start and terminal.Start.
func Start(ctx context.Context, host envs.Host, claim relabel.Claim) (Episode, error) {
	switch claim.Run.Scaffold {
	case bare.Name:
		return episode(bare.Start(ctx, host, claim))
	case terminal.Name:
		return episode(terminal.Start(ctx, host, claim))
	case relabel.ScaffoldImported:
		return nil, relabel.Errorf(relabel.CodeInvalid, "the run's trajectories were imported: it rolls nothing out")
	}
	return episode(openhands.Start(ctx, host, claim))
}

// episode returns no Episode with an error.
func episode[E Episode](e E, err error) (Episode, error) {
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

// Parse classifies an action of a run at a state without running it.
func Parse(run relabel.Run, state []relabel.Message, action relabel.Message) relabel.ParseOutcome {
	switch run.Scaffold {
	case bare.Name:
		return bare.Parse(run.Prompts.Tools, action)
	case reposearcher.Name:
		return reposearcher.Parse(run.Prompts.Tools, state, action)
	case relabel.ScaffoldImported:
		return imported.Parse(run.Prompts.Tools, action)
	}
	return openhands.Parse(run.Prompts.Tools, action)
}
