// Command relabel collects DAgger data for LLM agents: it serves the REST interface
// and the viewer, rolls trajectories out, and exports data sets.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"relabel/cli"
	"relabel/worker"
)

// version is set by the build (-ldflags "-X main.version=…").
var version = "dev"

// commands are all commands.
type commands struct {
	Serve      serveCommand          `cmd:"" help:"Serve REST and the viewer, and roll out trajectories."`
	Worker     workerCommand         `cmd:"" help:"Roll out trajectories for a server that runs elsewhere, on the same database; or list workers."`
	Top        cli.TopCommand        `cmd:"" help:"Show what workers, runs, trajectories and endpoints do right now."`
	Tasks      cli.TasksCommand      `cmd:"" help:"Import, list and validate tasks."`
	Tokenizer  cli.TokenizerCommand  `cmd:"" help:"Register and list the tokenizers that policies and exports name."`
	Policy     cli.PolicyCommand     `cmd:"" help:"Register and list the endpoints of teachers and students."`
	Run        cli.RunCommand        `cmd:"" help:"Create runs, start and watch their iterations."`
	Export     cli.ExportCommand     `cmd:"" help:"Build data sets from labelled trajectories."`
	Trajectory cli.TrajectoryCommand `cmd:"" help:"List trajectories of all runs, filtered and sorted."`
	Review     cli.ReviewCommand     `cmd:"" help:"Flag trajectories and add notes to them."`
	Token      cli.TokenCommand      `cmd:"" help:"Create and revoke the bearer tokens of the REST interface."`
	Audit      cli.AuditCommand      `cmd:"" help:"List who changed what, newest first."`
	Tokens     cli.TokensCommand     `cmd:"" help:"Encode JSON lines of text with a tokenizer, as exports do."`
	Demo       demoCommand           `cmd:"" help:"Collect DAgger data on real tasks with scripted policies, export it and show it."`
	Render     cli.RenderCommand     `cmd:"" help:"Render conversations with a chat template; input is JSON lines with messages, tools and other template variables."`
	Health     cli.HealthCommand     `cmd:"" help:"Check that the process at an address answers, for health checks of containers."`
	Doctor     cli.DoctorCommand     `cmd:"" help:"Check prerequisites and show how to install what this machine lacks."`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	worker.SaveMemory()
	ctx := worker.WithSignals(context.Background())
	var c commands
	parser, err := kong.New(&c,
		kong.Name("relabel"),
		kong.Description("DAgger data for LLM agents: a teacher's action at every state that a teacher/student mixture visits."),
		flagVars(version, cli.DefaultDataFolder()), cli.RequestFlags(),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(cli.ServeLocal(serveLocal), ports()))
	if err != nil { // a bug in the commands above
		panic(err)
	}
	k, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, usageMessage(err))
		os.Exit(exitUsage)
	}
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "relabel: "+cli.Message(err))
		os.Exit(exitCode(err))
	}
}

// flagVars are the variables in the tags of flags.
func flagVars(version, data string) kong.Vars {
	return kong.Vars{"version": version, "data": data}
}

// exitUsage is the exit code of a wrong command line.
const exitUsage = 2

// usageMessage returns one line with the error and the command that prints help.
func usageMessage(err error) string {
	command := "relabel"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			command = node.FullPath()
		}
	}
	return fmt.Sprintf("relabel: %v; `%s --help` says more", err, command)
}

// exitCode is 130 after a signal and 1 for every other error.
func exitCode(err error) int {
	if errors.Is(err, context.Canceled) {
		return 130
	}
	return 1
}
