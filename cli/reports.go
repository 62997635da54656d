package cli

import (
	"os"

	"relabel/evaluation"
)

// ReportCommand is `relabel report`.
type ReportCommand struct {
	Run        reportRun        `cmd:"" help:"Show a run's evaluations: resolved tasks with intervals, by repository, and checkpoints compared task by task."`
	Compare    reportCompare    `cmd:"" help:"Compare two evaluations on the same benchmark task by task."`
	Failures   reportFailures   `cmd:"" help:"Count the failure modes of a run's trajectories by iteration."`
	Localise   reportLocalise   `cmd:"" help:"Show how a run's iterations localise issues: recall, precision and nDCG of files and functions, with intervals."`
	Divergence reportDivergence `cmd:"" help:"Compare a run's students with its teacher: reverse KL divergence of scores, agreement of actions."`
	Scaling    reportScaling    `cmd:"" help:"Compare runs by the training of their students: resolved tasks of one benchmark by effective samples."`
}

// reportFlags name a run and the format of a report about it.
type reportFlags struct {
	runFlags
	Format string `enum:"table,json,csv" default:"table" placeholder:"FORMAT" help:"table, json or csv."`
}

// printCSV prints a header and rows as CSV.
func printCSV(heads []string, rows [][]any) error { return evaluation.WriteCSV(os.Stdout, heads, rows) }
