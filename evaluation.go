package relabel

import (
	"context"
	"fmt"
	"time"
)

// EvaluationReport sums up the evaluations and samples of a run.
type EvaluationReport struct {
	RunID       ID        `json:"run_id" doc:"The run."`
	Evaluations []Results `json:"evaluations" nullable:"false" doc:"The evaluations in order of creation."`
	// Comparisons are of done evaluations: in one that runs or was cancelled, the tasks that ended are
	// mostly those with short trajectories.
	Comparisons []Comparison `json:"comparisons" nullable:"false" doc:"Each evaluation that is done against the one before it that is done, on the same benchmark. Running and cancelled ones are not compared."`
	Samples     []Results    `json:"samples" nullable:"false" doc:"The sample iterations in order of creation."`
}

// Results are those of an iteration in which the student alone acts. A trajectory without a valid
// submission is not resolved. One that the infrastructure failed is not graded, nor is one that is
// not to be verified; both are counted beside.
type Results struct {
	RunID       ID             `json:"run_id" doc:"The run."`
	Run         string         `json:"run" doc:"Name of the run."`
	IterationID ID             `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind  `json:"kind" doc:"The iteration's kind: evaluate or sample."`
	Number      int            `json:"number" doc:"The iteration's number."`
	State       IterationState `json:"state" doc:"The iteration's state."`
	CreatedAt   time.Time      `json:"created_at" doc:"When the iteration was created."`
	BenchmarkID ID             `json:"benchmark_id,omitzero" doc:"The benchmark of an evaluation, or of a sample that only measures; absent: a sample for training."`
	Benchmark   string         `json:"benchmark,omitempty" doc:"Name of the benchmark; absent: it has none, or there is no benchmark."`
	StudentID   ID             `json:"student_id" doc:"The checkpoint."`
	Student     string         `json:"student" doc:"Name and version of the checkpoint."`
	Generations int            `json:"generations" doc:"Rollouts of each task."`
	Tasks       int            `json:"tasks" doc:"Its tasks."`
	Hinted      int            `json:"hinted,omitempty" doc:"Of these, tasks whose first prompt has functions that another run located; absent: none."`
	HintsFrom   string         `json:"hints_from,omitempty" doc:"The run that located them; absent without any."`
	// Excluded names at most MostExcludedNamed of the ExcludedTasks, which Tasks does not count.
	ExcludedTasks  int            `json:"excluded_tasks,omitempty" doc:"Tasks that are excluded from its benchmark or, without a named one, from the run's task set, beside those in tasks; absent: none."`
	Excluded       []ExcludedTask `json:"excluded,omitempty" doc:"These, by instance id with the reasons, at most 100; absent: none."`
	Ungraded       int            `json:"ungraded" doc:"Of these, tasks without a graded trajectory, which no share includes."`
	Unverified     int            `json:"unverified" doc:"Trajectories that are not to be verified: not graded. Never in an evaluation."`
	Infrastructure int            `json:"infrastructure" doc:"Trajectories that the infrastructure failed: not graded."`
	Cancelled      int            `json:"cancelled" doc:"Cancelled trajectories: not graded."`
	Open           int            `json:"open" doc:"Trajectories that have not ended: not graded yet."`
	Submitted      Proportion     `json:"submitted" doc:"Trajectories with a valid submission among the graded ones."`
	Resolved       Proportion     `json:"resolved" doc:"Resolved trajectories among the graded ones."`
	// MeanReward is of the graded trajectories that have a reward, also of those that did not finish.
	MeanReward *float64 `json:"mean_reward,omitempty" doc:"Mean reward of the graded trajectories of tasks in a terminal, finished or not; absent for other tasks."`
	// Trained is nil without a benchmark, and if no task of it trained the student.
	Trained      *TrainedTasks       `json:"trained,omitempty" doc:"Its tasks that the checkpoint was trained on, by what its policy says; absent if none is known."`
	PassAtK      []PassAtK           `json:"pass_at_k,omitempty" doc:"pass@k, with several generations; absent otherwise."`
	Repositories []RepositoryResults `json:"repositories" nullable:"false" doc:"The same by repository."`
}

// MostExcludedNamed bounds the excluded tasks that a figure names.
const MostExcludedNamed = 100

// ExcludedText says how many tasks are excluded, and names the first of them with the reasons; "" if none is.
func (r Results) ExcludedText() string { return ExcludedText(r.ExcludedTasks, r.Excluded, 3) }

// ExcludedText says that n tasks are excluded, and names the first most of them with the reasons; "" if n is 0.
func ExcludedText(n int, named []ExcludedTask, most int) string {
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d excluded", n)
	for i, e := range named[:min(len(named), most)] {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		text += fmt.Sprintf("%s%s (%s)", separator, e.InstanceID, e.Reason)
	}
	if more := n - min(len(named), most); more > 0 && len(named) > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// MeanRewardText says the mean reward; "" without one.
func (r Results) MeanRewardText() string {
	if r.MeanReward == nil {
		return ""
	}
	return fmt.Sprintf("mean reward %.3f", *r.MeanReward)
}

// OnBenchmark reports whether the iteration only measures: it is on a benchmark.
func (r Results) OnBenchmark() bool { return r.BenchmarkID != ID{} }

// HintedText says how many tasks have hints, and from where.
func (r Results) HintedText() string {
	return fmt.Sprintf("%d of %d tasks have hints, located by %s", r.Hinted, r.Tasks, r.HintsFrom)
}

// TrainedTasks counts the tasks of a benchmark in the exports that trained a policy version or one that its
// training started from. A task is the same as for a reservation, see BenchmarkStore.ListReserved.
type TrainedTasks struct {
	Tasks   int `json:"tasks" doc:"Tasks with a labelled state in an export that trained the checkpoint, or one that its training started from."`
	Of      int `json:"of" doc:"Tasks of the benchmark."`
	Deleted int `json:"deleted_exports,omitempty" doc:"Such exports that were deleted since: their tasks are unknown."`
}

// Text says how many tasks were in the training.
func (t TrainedTasks) Text() string {
	text := fmt.Sprintf("%d of %d tasks were in its training", t.Tasks, t.Of)
	if t.Tasks == 1 {
		text = fmt.Sprintf("1 of %d tasks was in its training", t.Of)
	}
	if t.Deleted > 0 {
		text += fmt.Sprintf("; the tasks of deleted exports (%d) are unknown", t.Deleted)
	}
	return text
}

// RepositoryResults are the results of an iteration in one repository.
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
	Low        *float64 `json:"low,omitempty" doc:"Lower bound of its 95% interval, by a bootstrap over tasks; absent with fewer than two tasks."`
	High       *float64 `json:"high,omitempty" doc:"Upper bound of the interval."`
	// Evaluation and With are nil in the report of a run, which has them.
	Evaluation *Results `json:"evaluation,omitempty" doc:"The evaluation with its results; absent in the report of a run."`
	With       *Results `json:"with,omitempty" doc:"The one that it is compared with; absent in the report of a run."`
	// Changed are the tasks behind Better and Worse.
	Changed []ChangedTask `json:"changed,omitempty" doc:"The tasks that are better or worse, sorted by instance id; absent without any, and in the report of a run."`
}

// ChangedTask is a task of two evaluations with different shares of resolved trajectories.
type ChangedTask struct {
	TaskID       ID     `json:"task_id" doc:"The task."`
	InstanceID   string `json:"instance_id" doc:"Its instance id."`
	Resolved     int    `json:"resolved" doc:"Its resolved trajectories."`
	Graded       int    `json:"graded" doc:"Its graded trajectories."`
	WithResolved int    `json:"with_resolved" doc:"Its resolved trajectories in the other evaluation."`
	WithGraded   int    `json:"with_graded" doc:"Its graded trajectories in the other evaluation."`
}

// TaskResults counts the trajectories of one task in an iteration.
type TaskResults struct {
	TaskID     ID
	InstanceID string
	Repository string
	Hinted     bool    // its first prompt has functions that another run located
	Graded     int     // done with a verdict, or not submitted unless it is not to be verified
	Submitted  int     // of these
	Resolved   int     // of these
	Rewarded   int     // graded ones with a reward, which tasks in a terminal have
	Rewards    float64 // the sum of these
	// The others: done and not to be verified, failed or without a verdict by an error of the
	// infrastructure, cancelled, and open.
	Unverified, Infrastructure, Cancelled, Open int
}

// EvaluationStore reads the results of evaluations.
type EvaluationStore interface {
	// ListTaskResults returns the results of an iteration by task, in the order of instance ids.
	ListTaskResults(ctx context.Context, iteration ID) ([]TaskResults, error)
	// CountTrained counts the tasks of a benchmark that trained a policy version.
	CountTrained(ctx context.Context, policy, benchmark ID) (TrainedTasks, error)
}
