// Command relabel collects DAgger data for LLM agents: it serves the REST interface
// and the viewer, rolls trajectories out, and exports data sets.
package main

import (
	"context"
	"os"

	"github.com/alecthomas/kong"

	"relabel/cli"
	"relabel/worker"
)

// version is set by the build (-ldflags "-X main.version=…").
var version = "dev"

// commands are all commands.
type commands struct {
	Serve         serveCommand             `cmd:"" help:"Serve REST and the viewer, and roll out trajectories."`
	Worker        workerCommand            `cmd:"" help:"Roll out trajectories for a server that runs elsewhere, on the same database; or list workers."`
	Top           cli.TopCommand           `cmd:"" help:"Show what workers, runs, trajectories and endpoints do right now."`
	Tasks         cli.TasksCommand         `cmd:"" help:"Import, list and validate tasks."`
	Benchmark     cli.BenchmarkCommand     `cmd:"" help:"Create and list benchmarks: the fixed lists of tasks of evaluations."`
	Exclusions    cli.ExclusionsCommand    `cmd:"" help:"Add and list exclusion lists: instance ids and repositories that no training uses."`
	Tokenizer     cli.TokenizerCommand     `cmd:"" help:"Register and list the tokenizers that policies and exports name."`
	Conversations cli.ConversationsCommand `cmd:"" help:"Import and list conversations, such as general data, that exports mix in."`
	Policy        cli.PolicyCommand        `cmd:"" help:"Register and list the endpoints of teachers and students."`
	Run           cli.RunCommand           `cmd:"" help:"Create runs, start and watch their iterations."`
	Export        cli.ExportCommand        `cmd:"" help:"Build data sets from labelled trajectories."`
	Report        cli.ReportCommand        `cmd:"" help:"Print figures of a run as a table, JSON or CSV."`
	Trajectory    cli.TrajectoryCommand    `cmd:"" help:"List trajectories of all runs, filtered and sorted."`
	Review        cli.ReviewCommand        `cmd:"" help:"Flag trajectories and add notes to them."`
	Token         cli.TokenCommand         `cmd:"" help:"Create and revoke the bearer tokens of the REST interface."`
	Audit         cli.AuditCommand         `cmd:"" help:"List who changed what, newest first."`
	Tokens        cli.TokensCommand        `cmd:"" help:"Encode JSON lines of text with a tokenizer, as exports do."`
	Demo          demoCommand              `cmd:"" help:"Collect DAgger data on real tasks with scripted policies, export it and show it."`
	Scripted      cli.ScriptedCommand      `cmd:"" help:"Serve the scripted teacher and students of the demo for your own tasks, to try a run without a model."`
	Render        cli.RenderCommand        `cmd:"" help:"Render conversations with a chat template; input is JSON lines with messages, tools and other template variables."`
	Health        cli.HealthCommand        `cmd:"" help:"Check that the process at an address answers, for health checks of containers."`
	Doctor        cli.DoctorCommand        `cmd:"" help:"Check prerequisites and show how to install what this machine lacks."`

	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	worker.SaveMemory()
	os.Exit(cli.Main(worker.WithSignals(context.Background()), &commands{}, version, cli.ServeLocal(serveLocal), ports()))
}
