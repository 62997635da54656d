package relabel

import "context"

// LocalisationReport has the figures of a run's iterations whose tasks are to localise issues.
type LocalisationReport struct {
	RunID      ID                      `json:"run_id" doc:"The run."`
	Iterations []IterationLocalisation `json:"iterations" nullable:"false" doc:"The iterations with such tasks, in order of creation."`
	// Comparisons are of done iterations: in one that runs or was cancelled, the tasks that ended are
	// mostly those with short trajectories.
	Comparisons []LocalisationComparison `json:"comparisons" nullable:"false" doc:"Each iteration that is done against the one before it that is done, of the same kind and on the same benchmark; or against the one that was asked for. Only with tasks in common."`
}

// IterationLocalisation has the figures of an iteration.
type IterationLocalisation struct {
	IterationID ID             `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind  `json:"kind" doc:"Its kind."`
	Number      int            `json:"number" doc:"Its number among those of its kind."`
	State       IterationState `json:"state" doc:"Its state."`
	BenchmarkID *ID            `json:"benchmark_id,omitempty" doc:"The benchmark of its tasks, if it only measures; absent: tasks for training."`
	Benchmark   string         `json:"benchmark,omitempty" doc:"Name of the benchmark; absent: it has none."`
	StudentID   ID             `json:"student_id" doc:"The student."`
	Student     string         `json:"student" doc:"Name and version of the student."`
	// Excluded names at most MostExcludedNamed of the ExcludedTasks, which Tasks does not count.
	ExcludedTasks int            `json:"excluded_tasks,omitempty" doc:"Tasks that are excluded from its benchmark or, without a named one, from the run's task set, beside those in tasks; absent: none."`
	Excluded      []ExcludedTask `json:"excluded,omitempty" doc:"These, by instance id with the reasons, at most 100; absent: none."`
	Ungraded      int            `json:"ungraded" doc:"Trajectories that ended without a score: the infrastructure failed them, they were cancelled or not verified, or their first prompt was too long. They are in no figure."`
	Open          int            `json:"open" doc:"Trajectories that have not ended; they are in no figure yet."`
	LocalisationFigures
	Languages []LanguageLocalisation `json:"languages" nullable:"false" doc:"The same by language of the gold files; a task with several languages counts for each."`
}

// ExcludedText says how many tasks are excluded, and names the first of them with the reasons; "" if none is.
func (l IterationLocalisation) ExcludedText() string {
	return ExcludedText(l.ExcludedTasks, l.Excluded, 3)
}

// LanguageLocalisation has the figures of the tasks with gold files of one language.
type LanguageLocalisation struct {
	Language string `json:"language" doc:"The language; empty: of no known one."`
	LocalisationFigures
}

// LocalisationFigures are those of graded trajectories. A mean is over tasks, of which each counts once: by
// the mean of its trajectories. A trajectory without a valid submission has an empty list.
type LocalisationFigures struct {
	Tasks     int        `json:"tasks" doc:"Tasks with a graded trajectory."`
	Rollouts  int        `json:"rollouts" doc:"Graded trajectories of these tasks."`
	Submitted Proportion `json:"submitted" doc:"Trajectories with a valid submission among them: the search was ended and a list given."`
	// Calls do not count the call that ends the search.
	Calls Proportion `json:"calls" doc:"Tool calls that did not fail among the calls of these trajectories, without those that end the search."`
	Turns *TaskMean  `json:"turns,omitempty" doc:"Turns of a trajectory; absent without a task, as the figures below."`
	Score *TaskMean  `json:"score,omitempty" doc:"The score that trains: nDCG@k of the ranked functions, or of the ranked files for a task without gold functions."`
	// Files and Functions are of the equations 1 to 7 of ToolTrain.
	Files     *RankingFigures `json:"files,omitempty" doc:"Figures of the ranked files."`
	Functions *RankingFigures `json:"functions,omitempty" doc:"Figures of the ranked functions. Tasks without gold functions are left out."`
}

// RankingFigures are means over tasks of the figures of ranked lists, or differences of such means.
type RankingFigures struct {
	Tasks   int      `json:"tasks" doc:"The tasks that the means are over: those with gold."`
	Recall1 TaskMean `json:"recall_at_1" doc:"Share of gold in the first place."`
	Recall3 TaskMean `json:"recall_at_3" doc:"Share of gold in the first 3 places."`
	Recall5 TaskMean `json:"recall_at_5" doc:"Share of gold in the first 5 places."`
	MAP     TaskMean `json:"map" doc:"Mean average precision."`
	MRR     TaskMean `json:"mrr" doc:"Mean reciprocal rank of the first hit, 0 without."`
	NDCG5   TaskMean `json:"ndcg_at_5" doc:"nDCG@5."`
}

// Means are the figures in their order, that of RankingNames.
func (f *RankingFigures) Means() []*TaskMean {
	return []*TaskMean{&f.Recall1, &f.Recall3, &f.Recall5, &f.MAP, &f.MRR, &f.NDCG5}
}

// RankingNames name the figures of RankingFigures.
var RankingNames = []string{"Recall@1", "Recall@3", "Recall@5", "MAP", "MRR", "nDCG@5"}

// TaskMean is a mean over tasks with its interval.
type TaskMean struct {
	Mean float64  `json:"mean" doc:"The mean."`
	Low  *float64 `json:"low,omitempty" doc:"Lower bound of its 95% interval, by a bootstrap over tasks; absent with fewer than two tasks."`
	High *float64 `json:"high,omitempty" doc:"Upper bound of the interval."`
}

// LocalisationComparison compares two iterations on the tasks that both have, task by task.
type LocalisationComparison struct {
	IterationID ID              `json:"iteration_id" doc:"The iteration."`
	WithID      ID              `json:"with_id" doc:"The one that it is compared with."`
	Tasks       int             `json:"tasks" doc:"Tasks with graded trajectories in both. The figures below are those of the iteration minus those of the other one."`
	Score       *TaskMean       `json:"score,omitempty" doc:"Difference of the scores; absent without a task, as the figures below."`
	Files       *RankingFigures `json:"files,omitempty" doc:"Differences of the figures of ranked files; absent without a task with gold files."`
	Functions   *RankingFigures `json:"functions,omitempty" doc:"Differences of the figures of ranked functions; absent without a task with gold functions."`
}

// LocalisationRollout is a trajectory of a task to localise an issue.
type LocalisationRollout struct {
	TaskID        ID
	Open          bool // it has not ended
	GoldFiles     []string
	GoldFunctions []string
	Submitted     bool
	Score         *float64 // nil: not graded
	Ranking       []string // the submission
	Turns         int
	Calls         int // without those that end the search
	FailedCalls   int
}

// LocalisationStore reads rollouts that localise issues.
type LocalisationStore interface {
	// EachLocalisation passes the trajectories of an iteration whose tasks are to localise issues to
	// each, in the order of the tasks' instance ids.
	EachLocalisation(ctx context.Context, iteration ID, each func(LocalisationRollout)) error
}
