package relabel

import "context"

// EvaluationReport sums up the evaluations of a run.
type EvaluationReport struct {
	RunID       ID           `json:"run_id" doc:"The run."`
	Evaluations []Evaluation `json:"evaluations" nullable:"false" doc:"The evaluations in order of creation."`
	// Comparisons are of each evaluation with the one before it on the same benchmark.
	Comparisons []Comparison `json:"comparisons" nullable:"false" doc:"Each evaluation against the one before it on the same benchmark."`
}

// Evaluation is the result of an evaluate iteration. A trajectory without a valid submission is not
// resolved. One that the infrastructure failed is not graded, and counted beside.
type Evaluation struct {
	IterationID    ID                  `json:"iteration_id" doc:"The iteration."`
	Number         int                 `json:"number" doc:"The iteration's number."`
	BenchmarkID    ID                  `json:"benchmark_id" doc:"The benchmark."`
	Benchmark      string              `json:"benchmark,omitempty" doc:"Name of the benchmark; absent: it has none."`
	StudentID      ID                  `json:"student_id" doc:"The checkpoint."`
	Student        string              `json:"student" doc:"Name and version of the checkpoint."`
	Tasks          int                 `json:"tasks" doc:"Tasks of the evaluation."`
	Ungraded       int                 `json:"ungraded" doc:"Of these, tasks without a graded trajectory, which no share includes."`
	Infrastructure int                 `json:"infrastructure" doc:"Trajectories that the infrastructure failed: not graded."`
	Cancelled      int                 `json:"cancelled" doc:"Cancelled trajectories: not graded."`
	Open           int                 `json:"open" doc:"Trajectories that have not ended: not graded yet."`
	Submitted      Proportion          `json:"submitted" doc:"Trajectories with a valid submission among the graded ones."`
	Resolved       Proportion          `json:"resolved" doc:"Resolved trajectories among the graded ones."`
	PassAtK        []PassAtK           `json:"pass_at_k,omitempty" doc:"pass@k, with several generations; absent otherwise."`
	Repositories   []RepositoryResults `json:"repositories" nullable:"false" doc:"The same by repository."`
}

// RepositoryResults are the results of an evaluation in one repository.
type RepositoryResults struct {
	Repository string     `json:"repository" doc:"The repository, as its tasks name it."`
	Tasks      int        `json:"tasks" doc:"Its tasks."`
	Ungraded   int        `json:"ungraded" doc:"Of these, tasks without a graded trajectory."`
	Resolved   Proportion `json:"resolved" doc:"Resolved trajectories among the graded ones."`
}

// Comparison compares two evaluations of the same tasks, task by task.
type Comparison struct {
	IterationID ID  `json:"iteration_id" doc:"The later evaluation."`
	WithID      ID  `json:"with_id" doc:"The one that it is compared with."`
	Tasks       int `json:"tasks" doc:"Tasks that both graded."`
	Ungraded    int `json:"ungraded" doc:"Tasks that only one or neither graded, which nothing else includes."`
	Better      int `json:"better" doc:"Tasks with a larger share of resolved trajectories than in the other evaluation."`
	Worse       int `json:"worse" doc:"Tasks with a smaller share."`
	// P is of the exact McNemar test, which needs one graded trajectory per task.
	P          *float64 `json:"p,omitempty" doc:"Two-sided p-value of the exact McNemar test; absent if a task has several graded trajectories."`
	Difference *float64 `json:"difference,omitempty" doc:"Mean over tasks of the share of resolved trajectories, minus that of the other evaluation; absent without tasks."`
	Low        *float64 `json:"low,omitempty" doc:"Lower bound of its 95% interval, by a bootstrap over tasks."`
	High       *float64 `json:"high,omitempty" doc:"Upper bound of the interval."`
}

// TaskResults counts the trajectories of one task in an evaluation.
type TaskResults struct {
	TaskID     ID
	Repository string
	Graded     int // done, and not submitted or with a verdict
	Submitted  int // of these
	Resolved   int // of these
	// The others: failed or without a verdict by an error of the infrastructure, cancelled, and open.
	Infrastructure, Cancelled, Open int
}

// EvaluationStore reads the results of evaluations.
type EvaluationStore interface {
	// ListTaskResults returns the results of an iteration by task, in the order of instance ids.
	ListTaskResults(ctx context.Context, iteration ID) ([]TaskResults, error)
}
