package relabel

import "time"

// Taskset is a named, immutable list of tasks that came from one file.
type Taskset struct {
	ID        ID        `json:"id"`
	Name      string    `json:"name"`
	Digest    string    `json:"digest"` // hex SHA-256 of the file
	Tasks     int       `json:"tasks"`
	HeldOut   int       `json:"held_out"` // how many of Tasks are held out
	CreatedAt time.Time `json:"created_at"`
}

// Task is one instance: a prompt x, an image with a repository at a base commit,
// and how a patch to it is verified.
type Task struct {
	ID               ID     `json:"id"`
	TasksetID        ID     `json:"taskset_id"`
	InstanceID       string `json:"instance_id"` // unique in its taskset
	Repo             string `json:"repo"`
	BaseCommit       string `json:"base_commit"` // "" means the image's HEAD
	Image            string `json:"image"`
	Workdir          string `json:"workdir"` // absolute path of the repository in the image
	ProblemStatement string `json:"problem_statement"`
	HintsText        string `json:"hints_text"`
	Patch            string `json:"patch"`      // gold: what resolves the task
	TestPatch        string `json:"test_patch"` // what the verifier adds before it runs the tests
	TestCmd          string `json:"test_cmd"`
	// EvalScript is the bash script that TestCmd is a part of, with what prepares the tests;
	// see tasks.SplitEvalScript. "" where TestCmd is all.
	EvalScript string   `json:"eval_script,omitempty"`
	LogParser  string   `json:"log_parser"`
	FailToPass []string `json:"fail_to_pass"`
	PassToPass []string `json:"pass_to_pass"`
	HeldOut    bool     `json:"held_out"` // never rolled out for training
}

// TaskHead is a task without its long texts, with what came of it in all runs.
type TaskHead struct {
	ID         ID
	InstanceID string
	Repo       string
	HeldOut    bool
	Begins     string   // the problem statement's first 300 characters
	Outcomes   GridCell // of all its trajectories, of evaluations too
}

// TaskFilter narrows a list of a taskset's tasks. Zero fields do not narrow.
type TaskFilter struct {
	Part    string // of the instance id or the repository, in either case
	HeldOut *bool
}
