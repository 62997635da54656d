package cli

// TasksCommand is `relabel tasks`.
type TasksCommand struct {
	Import      TasksImport      `cmd:"" help:"Import a JSONL file, or a folder of Harbor tasks (also as tar or zip): relabel's own format, SWE-bench (also Verified and Live), SWE-Gym or SWE-rebench (also V2)."`
	List        TasksList        `cmd:"" help:"List task sets, or the tasks of one."`
	Images      TasksImages      `cmd:"" help:"List the images that the tasks of a set need, with their sizes; --check looks for them first."`
	BuildImages TasksBuildImages `cmd:"" help:"Build the images of task folders of Harbor that have a Dockerfile, on each engine."`
	Validate    TasksValidate    `cmd:"" help:"Run the gold patch and the empty patch of each task of a file: the first must resolve it, the second must not. Of tasks in a terminal, the solution must have reward 1. Of tasks to localise, check gold against the mirrors."`
	Build       TasksBuild       `cmd:"" help:"Make tasks to repair out of the history of a git repository: build images, run the tests before and after each change, and keep the changes that the tests tell apart."`
	Localise    TasksLocalise    `cmd:"" help:"Make tasks to localise out of issues and their changes: the files and functions that a change modifies are the gold."`
}

// ExportCommand is `relabel export`.
type ExportCommand struct {
	Start  exportStart  `cmd:"" help:"Build a data set from a run's labelled states and wait for it."`
	List   exportList   `cmd:"" help:"List data sets."`
	Show   exportShow   `cmd:"" help:"Show a data set: its files, and what was excluded and why. With --row, a row of its files in colour."`
	Verify exportVerify `cmd:"" help:"Check a data set's folder: its files against the manifest, each row, and that all views contain the same labels."`
	Cancel exportCancel `cmd:"" help:"Cancel a data set that is being built."`
	Delete exportDelete `cmd:"" help:"Remove a data set with its files."`
}
