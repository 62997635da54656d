package main

import "relabel/cli"

// tasksCommand is `relabel tasks`.
type tasksCommand struct {
	Import   cli.TasksImport `cmd:"" help:"Import a JSONL file: relabel's own form, SWE-bench, SWE-bench Verified, SWE-Gym or SWE-rebench."`
	List     cli.TasksList   `cmd:"" help:"List task sets, or the tasks of one."`
	Validate tasksValidate   `cmd:"" help:"Run the gold patch and the empty patch of each task of a file: the first must resolve it, the second must not."`
}

// exportCommand is `relabel export`.
type exportCommand struct {
	Start  cli.ExportStart  `cmd:"" help:"Build a data set from a run's labelled states and wait for it."`
	List   cli.ExportList   `cmd:"" help:"List data sets."`
	Show   exportShow       `cmd:"" help:"Show a data set: its files, and what was left out and why. With --row, a row of its files in colour."`
	Verify exportVerify     `cmd:"" help:"Check a data set's folder: its files against the manifest, each row, and that all views hold the same labels."`
	Cancel cli.ExportCancel `cmd:"" help:"End a data set that is being built."`
	Delete cli.ExportDelete `cmd:"" help:"Remove a data set with its files."`
}
