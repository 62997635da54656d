package cli

// TasksCommand is `relabel tasks`.
type TasksCommand struct {
	Import      TasksImport      `cmd:"" help:"Import files or folders of tasks as data sets publish them (JSONL, JSON or Parquet; docs/task-format.md lists the sets), in relabel's own format, or as task folders of Harbor."`
	List        TasksList        `cmd:"" help:"List task sets, or the tasks of one."`
	Images      TasksImages      `cmd:"" help:"List the images that the tasks of a set need, with their sizes; --check looks for them first."`
	BuildImages TasksBuildImages `cmd:"" help:"Build the images of task folders of Harbor that have a Dockerfile, on each engine."`
	Validate    TasksValidate    `cmd:"" help:"Run the tests of each task of a file or a task set with its gold patch, which must resolve it, and without a patch, which must not. Of tasks in a terminal, the solution must have reward 1. Of tasks to localise, check gold against the mirrors."`
	Build       TasksBuild       `cmd:"" help:"Make tasks to repair out of the history of a git repository: build images, run the tests before and after each change, and keep the changes that the tests tell apart."`
	Localise    TasksLocalise    `cmd:"" help:"Make tasks to localise out of issues and their changes: the files and functions that a change modifies are the gold."`
	Show        TasksShow        `cmd:"" help:"Show a task set with its revisions and how many of its tasks are sound."`
	Soundness   TasksSoundness   `cmd:"" help:"Show which tasks of a task set are sound, flaky or broken by their newest validations, or the logs of one."`
	Exclude     TasksExclude     `cmd:"" help:"Exclude tasks of a task set by name with a reason, in a new revision: no run draws them."`
	Include     TasksInclude     `cmd:"" help:"End the exclusion of tasks, in a new revision."`
	Overlap     TasksOverlap     `cmd:"" help:"Show which tasks of a task set overlap with benchmarks, exclusion lists or task sets: the same instance or commit, or a patch that shares runs of 13 tokens."`
}

// ExportCommand is `relabel export`.
type ExportCommand struct {
	Start  exportStart  `cmd:"" help:"Build a data set from a run's labelled states and wait for it."`
	List   exportList   `cmd:"" help:"List data sets."`
	Show   exportShow   `cmd:"" help:"Show a data set: its files, and what was excluded and why. With --row, a row of its files in colour."`
	Push   exportPush   `cmd:"" help:"Push a finished data set to the Hugging Face Hub in one commit. It can be repeated after any failure."`
	Verify exportVerify `cmd:"" help:"Check a data set: its files against the manifest, each row, and that all views contain the same labels."`
	Cancel exportCancel `cmd:"" help:"Cancel a data set that is being built."`
	Delete exportDelete `cmd:"" help:"Remove a data set with its files."`
}
