package relabel

import (
	"context"
	"iter"
	"time"
)

// TaskKind is what a task asks for.
type TaskKind string

// The kinds of task. A taskset has tasks of one kind.
const (
	// Repair asks for a patch; tests in a container grade it.
	Repair TaskKind = "repair"
	// Localise asks for the functions that an issue is about, as a ranked list; the gold functions
	// grade it, without a container.
	Localise TaskKind = "localise"
	// Terminal asks for what an instruction says, in a container; the task's own tests reward the state of
	// the container with a number from 0 to 1.
	Terminal TaskKind = "terminal"
)

// TaskKinds lists every TaskKind.
var TaskKinds = []TaskKind{Repair, Localise, Terminal}

// RolloutKinds are the kinds of task with slots of their own: tasks in a terminal share those of tasks to
// repair, which are in containers too. See TaskKind.Alike.
var RolloutKinds = []TaskKind{Repair, Localise}

// Alike lists the kinds of task that share queue, claims and slots with k, itself among them.
func (k TaskKind) Alike() []TaskKind {
	if k == Localise {
		return []TaskKind{Localise}
	}
	return []TaskKind{Repair, Terminal}
}

// Queue names the queue of the jobs that wake workers for trajectories with tasks of the kind.
func (k TaskKind) Queue() string {
	if k == Localise {
		return "localise"
	}
	return "rollout"
}

// Words describes tasks of the kind, such as "tasks to repair".
func (k TaskKind) Words() string {
	switch k {
	case Localise:
		return "tasks to localise"
	case Terminal:
		return "tasks in a terminal"
	}
	return "tasks to repair"
}

// Taskset is a named list of tasks at one of its revisions; see TasksetRevision.
type Taskset struct {
	ID        ID        `json:"id" doc:"Its id."`
	Name      string    `json:"name" doc:"Its name."`
	Digest    string    `json:"digest" doc:"SHA-256 of the file it was first imported from, in hex."`
	Kind      TaskKind  `json:"kind" doc:"The kind of its tasks: repair (a patch, graded by tests in a container) localise (a ranked list of functions, graded by the gold functions) or terminal (the state of a container, rewarded by the task's own tests)."`
	Revision  int       `json:"revision" doc:"The revision that tasks, held_out and excluded count: the newest, or the one of the request."`
	Tasks     int       `json:"tasks" doc:"How many tasks it has."`
	HeldOut   int       `json:"held_out" doc:"How many of them are held out."`
	Excluded  int       `json:"excluded" doc:"How many of them are excluded: no run draws them."`
	CreatedAt time.Time `json:"created_at" doc:"When it was imported."`
}

// TasksetChange is what makes a revision of a taskset.
type TasksetChange string

// The changes.
const (
	TasksImported TasksetChange = "import"     // revision 1
	TasksAppended TasksetChange = "append"     // tasks of a further file
	TasksExcluded TasksetChange = "exclude"    // no run draws them any more
	TasksIncluded TasksetChange = "include"    // runs draw them again
	FlakyDropped  TasksetChange = "drop_flaky" // their flaky tests no longer count
)

// TasksetRevision is a state of a taskset. Tasks never change: a changed task is another row with the same
// instance id, which the revisions from then on have in the place of the earlier one. A run draws from
// one revision.
type TasksetRevision struct {
	Revision  int           `json:"revision" doc:"Its number, from 1."`
	Change    TasksetChange `json:"change" doc:"What made it: import, append, exclude, include or drop_flaky."`
	Digest    string        `json:"digest,omitempty" doc:"SHA-256 of the file that it added, in hex; absent: it added none."`
	Changed   int           `json:"changed" doc:"How many tasks it added or changed."`
	Tasks     int           `json:"tasks" doc:"How many tasks it has."`
	HeldOut   int           `json:"held_out" doc:"How many of them are held out."`
	Excluded  int           `json:"excluded" doc:"How many of them are excluded."`
	CreatedAt time.Time     `json:"created_at" doc:"When it was made."`
}

// TaskCounts counts the tasks of a run's task set, or of its instances if it names any, at its revision.
type TaskCounts struct {
	Open     int // that iterations may draw for training
	Reserved int // that they may not, since benchmarks or exclusion lists reserve them
	HeldOut  int // of the whole task set
	Excluded int // that none may draw
}

// Task is one instance: a prompt x and a repository at a base commit; to repair, in an image with the
// verification of patches; to localise, in a mirror with the gold files and functions; in a terminal, an
// instruction and an image with the tests of its state.
type Task struct {
	ID               ID       `json:"id" doc:"Its id."`
	TasksetID        ID       `json:"taskset_id" doc:"The taskset it belongs to."`
	Kind             TaskKind `json:"kind" doc:"repair, localise or terminal."`
	InstanceID       string   `json:"instance_id" doc:"Its name, unique in a revision of its taskset."`
	Repo             string   `json:"repo" doc:"The repository, as the data set names it."`
	BaseCommit       string   `json:"base_commit" doc:"The commit that work starts from; empty: the image's HEAD."`
	Image            string   `json:"image" doc:"The container image."`
	Workdir          string   `json:"workdir" doc:"Absolute path of the repository in the image; of a task in a terminal, the folder in which commands start, empty for that of the image."`
	ProblemStatement string   `json:"problem_statement" doc:"The problem statement that the agent reads."`
	HintsText        string   `json:"hints_text" doc:"Hints, if the data set has any."`
	Patch            string   `json:"patch" doc:"Gold patch: the change that resolves the task."`
	TestPatch        string   `json:"test_patch" doc:"Patch that the verifier applies before it runs the tests."`
	TestCmd          string   `json:"test_cmd" doc:"The test command."`
	// EvalScript is the bash script that contains TestCmd and the preparation of the tests; see
	// tasks.SplitEvalScript. "" if there is only TestCmd.
	EvalScript string   `json:"eval_script,omitempty" doc:"The script that contains the test command and the preparation of the tests; absent if there is only the command."`
	LogParser  string   `json:"log_parser" doc:"Parser of the test command's output."`
	FailToPass []string `json:"fail_to_pass" doc:"Tests that the gold patch makes pass."`
	PassToPass []string `json:"pass_to_pass" doc:"Tests that pass before and after."`
	// Expected maps every test of the test command to its status after the gold patch. A patch resolves the task only if
	// the run has exactly these tests with these statuses. nil if FailToPass and PassToPass decide.
	Expected map[string]TestStatus `json:"expected,omitempty" doc:"The exact outcome of the test command, test by status, that resolves the task; absent if fail_to_pass and pass_to_pass decide."`
	// StartPatch makes the state that work starts from of the base commit, such as a bug that was put in. "" if that is
	// the base commit.
	StartPatch string `json:"start_patch,omitempty" doc:"Patch that is applied to the base commit before work starts, such as a bug that was put in; absent if there is none."`
	// Hidden are absolute paths in the image that the agent must not see, such as the solution. The verifier has them.
	Hidden  []string `json:"hidden,omitempty" doc:"Paths in the image that are removed from the agent's sandbox, such as the solution; the verifier has them."`
	Licence string   `json:"licence,omitempty" doc:"Licence of the repository, as the data set names it; absent if it names none."`
	// GoldFiles and GoldFunctions are what an answer to localise is graded by: paths in the base tree,
	// and path::Qualified.name. A task without gold functions is graded by its files.
	GoldFiles     []string `json:"gold_files,omitempty" doc:"Files that the solution changes, of a task to localise."`
	GoldFunctions []string `json:"gold_functions,omitempty" doc:"Functions that the solution changes, as path::Qualified.name, of a task to localise; without any, its files grade the answer."`
	// Terminal is nil for other kinds.
	Terminal *TerminalTask `json:"terminal,omitempty" doc:"Tests, solution and settings of a task in a terminal."`
	HeldOut  bool          `json:"held_out" doc:"Whether it is never rolled out for training."`
	// AddedIn and ReplacedIn are revisions of the taskset; the newest has the task if ReplacedIn is nil.
	AddedIn    int    `json:"added_in" doc:"The first revision of its taskset that has it."`
	ReplacedIn *int   `json:"replaced_in,omitempty" doc:"The first revision with another task of the same instance id in its place; absent: the newest has it."`
	Excluded   string `json:"excluded,omitempty" doc:"Why no run draws it; absent: runs draw it."`
	// ReservedBy is nil but in the answers of the REST interface; see BenchmarkStore.ListReservedBy.
	ReservedBy []string `json:"reserved_by,omitempty" doc:"Names of the benchmarks and exclusion lists that reserve it: a run draws it only if it allows them all; absent: none reserves it."`
	// Located are the functions that the run of a trajectory gives as hints, best first; see HintSource. Only
	// the task of a trajectory has them.
	Located []string `json:"-"`
}

// TaskList yields the tasks of a list.
func TaskList(tasks []Task) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for _, t := range tasks {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// TaskHead is a task without its long texts, with its outcomes in all runs.
type TaskHead struct {
	ID         ID
	InstanceID string
	Repo       string
	HeldOut    bool
	Excluded   string   // see Task.Excluded
	Begins     string   // the problem statement's first 300 characters
	Outcomes   GridCell // of all its trajectories, including evaluations
}

// TaskFilter narrows a list of a taskset's tasks. Zero fields do not narrow.
type TaskFilter struct {
	Revision int    // of the taskset; 0: the newest
	Part     string // substring of the instance id or the repository, in any case
	HeldOut  *bool
}

// TaskStore stores task sets and their tasks.
type TaskStore interface {
	// CreateTaskset stores a taskset with its tasks, or nothing if tasks yields an error, which it returns.
	CreateTaskset(ctx context.Context, set Taskset, tasks iter.Seq2[Task, error]) error
	// AppendTasks adds tasks to a taskset, or nothing if tasks yields an error, which it returns. digest is that of their
	// file. It counts tasks that the set has already with equal content as unchanged, and refuses others of the same
	// instance id with CodeConflict.
	AppendTasks(ctx context.Context, taskset ID, digest string, tasks iter.Seq2[Task, error]) (added, unchanged int, err error)
	FindTaskset(ctx context.Context, id ID) (Taskset, error)
	FindTasksetByName(ctx context.Context, name string) (Taskset, error)
	// FindTasksetAt returns a taskset at a revision, 0 for the newest.
	FindTasksetAt(ctx context.Context, id ID, revision int) (Taskset, error)
	ListTasksets(ctx context.Context, p Page) (sets []Taskset, next string, err error)
	// ListTasksetRevisions lists all revisions of a taskset, newest first.
	ListTasksetRevisions(ctx context.Context, taskset ID) ([]TasksetRevision, error)
	// ReviseTasks stores changed tasks, each with the id of the task whose place it takes, as a new
	// revision. CodeConflict if the newest revision does not have one of these.
	ReviseTasks(ctx context.Context, taskset ID, change TasksetChange, changed []Task) (Taskset, error)
	// ListTasks lists the tasks of a taskset at a revision, 0 for the newest.
	ListTasks(ctx context.Context, taskset ID, revision int, p Page) (tasks []Task, next string, err error)
	// ListTaskNames lists all tasks of a taskset at a revision, 0 for the newest, in the byte order of their
	// instance ids, with only ID, TasksetID, InstanceID, HeldOut and Excluded set.
	ListTaskNames(ctx context.Context, taskset ID, revision int) ([]Task, error)
	FindTask(ctx context.Context, id ID) (Task, error)
	// FindTaskOf returns the task of a trajectory with the functions that its run gives as hints.
	FindTaskOf(ctx context.Context, trajectory ID) (Task, error)
}
