package relabel

import "cmp"

// MostPageBytes bounds the stored bytes of a page's rows. A page of larger rows has fewer
// items than its limit, but at least one.
const MostPageBytes = 4 << 20

// Page selects a page of a list, newest first unless documented otherwise. Lists page by
// key, not by number.
type Page struct {
	After  string // Next of the previous page; "" for the first
	Before string // Previous of the following page, in lists that return one; else ""
	Limit  int    // items: 0 means 50, at most 500; see also MostPageBytes
}

// AllPages returns the items of all pages of a list, of 500 each.
func AllPages[T any](list func(Page) (items []T, next string, err error)) (all []T, err error) {
	for p := (Page{Limit: 500}); ; {
		items, next, err := list(p)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if p.After = next; next == "" {
			return all, nil
		}
	}
}

// TrajectoryFilter narrows a list of trajectories. Zero fields do not narrow.
type TrajectoryFilter struct {
	RunID           *ID
	IterationID     *ID
	IterationNumber int // of all kinds of iterations
	TasksetID       *ID
	TaskID          *ID
	InstanceID      string
	InstancePart    string // substring of the instance id, in any case
	Text            string // substring of the instance id, the failure, a verifier error or a review, in any case
	State           TrajectoryState
	EndReason       EndReason
	Failure         FailureReason
	Verdict         VerdictKind
	VerdictReason   VerdictReason
	FailureMode     FailureMode
	JudgedMode      FailureMode // of any judge and prompt
	ToolUseError    ToolUseChoice
	Submitted       *bool
	Resolved        *bool // submitted and passed; false: a verdict, and not both
	Hit             *bool // whether the answer of a scored one names a gold location
	LabelsMissing   bool  // at least one label is missing
	MinTurns        *int
	MaxTurns        *int
	MinAgreement    *float64 // 0 to 1; either bound excludes trajectories without an agreement
	MaxAgreement    *float64
	MinScore        *float64 // 0 to 1; either bound excludes trajectories without a score
	MaxScore        *float64
	Flag            string // of one of its reviews; AnyFlag: any flag
	Reviewed        *bool  // whether it has a review, including a note without a flag
}

// ToolUseChoice selects trajectories by whether they have a tool-use error. "" does not narrow.
type ToolUseChoice string

// The choices. ToolUseUnresolved are those that a FailureReport counts.
const (
	ToolUseErrors     ToolUseChoice = "true"
	NoToolUseErrors   ToolUseChoice = "false" // computed, and none
	ToolUseUnresolved ToolUseChoice = "unresolved"
)

// TrajectorySort says how a list of trajectories is sorted.
type TrajectorySort string

// The sorts. A sort by a figure lists the ended trajectories that have it first, so that
// pages do not change while others run, then the rest, newest first.
const (
	Newest             TrajectorySort = "newest"
	Oldest             TrajectorySort = "oldest"
	MostTurns          TrajectorySort = "most_turns"
	FewestTurns        TrajectorySort = "fewest_turns"
	MostTokens         TrajectorySort = "most_tokens"
	FewestTokens       TrajectorySort = "fewest_tokens"
	HighestAgreement   TrajectorySort = "highest_agreement"
	LowestAgreement    TrajectorySort = "lowest_agreement"
	EarliestDifference TrajectorySort = "earliest_difference" // the first turn whose label differs from the student's action
	LatestDifference   TrajectorySort = "latest_difference"
	HighestScore       TrajectorySort = "highest_score"
	LowestScore        TrajectorySort = "lowest_score"
)

// TrajectorySorts lists every sort.
var TrajectorySorts = []TrajectorySort{Newest, Oldest, MostTurns, FewestTurns, MostTokens, FewestTokens,
	HighestAgreement, LowestAgreement, EarliestDifference, LatestDifference, HighestScore, LowestScore}

// TrajectoryPage is a page of a list of trajectories.
type TrajectoryPage struct {
	Items    []Trajectory `json:"items" doc:"The trajectories, sorted as requested."`
	Next     string       `json:"next" doc:"Pass it as after to get the next page; empty at the end."`
	Previous string       `json:"previous" doc:"Pass it as before to get the previous page; empty at the beginning."`
	Total    int          `json:"total" doc:"Number of matching trajectories."`
	Exact    bool         `json:"exact" doc:"false: there are more than total, and counting stopped there."`
	Of       int          `json:"of" doc:"Number of trajectories in the requested runs and iterations."`
}

// Idempotent is the stored record of a POST with an Idempotency-Key.
type Idempotent struct {
	Key      string
	Route    string // method and path
	BodyHash string // hex SHA-256 of the body
	Status   int    // of the response; 0 while the first request is running
	Answer   []byte
}

// NewIteration is the request for an iteration of a run.
type NewIteration struct {
	Kind        IterationKind
	StudentID   ID
	Beta        *float64     // instead of the schedule's βi
	Rho         *RhoSchedule // instead of the run's schedule of ρ
	Tasks       int          // how many tasks to draw with the run's seed; 0 means all
	Instances   []string     // exactly these; held-out ones only in an evaluation
	HeldOut     bool         // evaluate or sample on the held-out tasks
	Again       *Draw        // exactly the tasks of another iteration; nil: a new draw
	Walked      []WalkedDraw // earlier draws of the run's iterations of this kind along permutations, in order
	Generations int          // rollouts per task; 0 means Again's, or else 1
	LabelRule   LabelRule    // instead of the run's; "" means the run's
	Verify      VerifyPolicy // instead of the run's; "" means the run's, or in an evaluation all

	// OnBenchmark is what an evaluation or a sample rolls out: exactly its tasks, with its limits; nil in
	// one that measures: a benchmark of the tasks that the other fields select, with the run's limits.
	OnBenchmark *Benchmark
	// AllowBenchmarks are names of benchmarks whose tasks may be drawn, besides the run's. Reserved
	// are the tasks that other benchmarks reserve, with their names; see BenchmarkStore.
	AllowBenchmarks []string
	Reserved        map[ID]string
}

// Measures reports whether the iteration only measures its student: an evaluation, or a sample on a
// benchmark or on held-out tasks. No state of it is ever exported.
func (ask NewIteration) Measures() bool {
	return ask.Kind == Evaluate || ask.Kind == Sample && (ask.HeldOut || ask.OnBenchmark != nil)
}

// WithDefaults returns the request with the run's own numbers of tasks and rollouts where it has none
// and draws for training.
func (ask NewIteration) WithDefaults(run Run) NewIteration {
	if ask.Measures() || ask.Again != nil {
		return ask
	}
	ask.Generations = cmp.Or(ask.Generations, run.Generations)
	if len(ask.Instances) == 0 {
		ask.Tasks = cmp.Or(ask.Tasks, run.TasksPerRound)
	}
	return ask
}

// Draw is the selection of tasks of an iteration. It is stored with the iteration, so that
// another one can repeat it exactly.
type Draw struct {
	IterationID ID       `json:"iteration_id" doc:"The iteration."`
	TasksetID   ID       `json:"taskset_id" doc:"The task set of its tasks."`
	BenchmarkID *ID      `json:"benchmark_id,omitempty" doc:"The benchmark of an evaluation, or of a sample on a benchmark or held-out tasks; absent in other iterations."`
	Generations int      `json:"generations" doc:"Rollouts per task."`
	Instances   []string `json:"instances" doc:"The instance ids, sorted."`
	// ReservedTasks counts the tasks that the draw excluded since benchmarks or exclusion lists reserve them.
	ReservedTasks int `json:"reserved_tasks" doc:"Tasks that the draw excluded since benchmarks or exclusion lists reserve them."`
}

// PlannedIteration is an iteration with its trajectories, drawn and ready to be stored.
type PlannedIteration struct {
	Iteration    Iteration
	Measures     bool // see NewIteration.Measures; such an iteration without a benchmark gets one of its tasks
	Trajectories []Trajectory
	ReservedBy   []string // the benchmarks and exclusion lists that reserve the tasks which the draw excluded, sorted
	// Weights is the check of the student's weights, which is stored with the iteration; nil: there was none.
	Weights *WeightCheck
}

// TextSearch asks which trajectories contain a text, in any case, and bounds the work for
// one page.
type TextSearch struct {
	Text  string // 1 to MostSearchedFor bytes
	After string // the Next of the page before; "" to begin
	Limit int    // matching trajectories per page: 0 means 50, at most 500
	Bytes int64  // bytes of text searched per page: 0 means 256 MiB
}

// MostSearchedFor is the maximum length of a search text, in bytes.
const MostSearchedFor = 500

// TextPage is a page of the results of a TextSearch. It covers only the trajectories that
// were searched for it.
type TextPage struct {
	Items    []TextFound `json:"items" doc:"Trajectories that contain the text, sorted as requested."`
	Next     string      `json:"next" doc:"Pass it as after to continue behind the last searched trajectory; empty when all were searched."`
	Searched int         `json:"searched" doc:"How many trajectories were searched for this page, whether they contain the text or not."`
	Bytes    int64       `json:"bytes" doc:"How many bytes of their texts were searched."`
	Total    int         `json:"total" doc:"Number of trajectories that the filter matches, on all pages."`
	Exact    bool        `json:"exact" doc:"false: there are more than total, and counting stopped there."`
	Of       int         `json:"of" doc:"Number of trajectories in the requested runs and iterations."`
}

// TextFound is a trajectory that contains the text.
type TextFound struct {
	Trajectory Trajectory `json:"trajectory" doc:"The trajectory."`
	Matches    int        `json:"matches" doc:"Number of occurrences of the text."`
	Places     int        `json:"places" doc:"Number of its turns and other texts that contain it."`
	First      []Match    `json:"first" doc:"The first matches, at most three, one per turn or text."`
}

// Match is one occurrence of a search text, with some context.
type Match struct {
	T        int    `json:"t,omitempty" doc:"The turn; absent: outside the turns."`
	Executor Role   `json:"executor,omitempty" doc:"The executor of the turn."`
	Place    string `json:"place" doc:"Where: thought, an argument's name, either of these after label, observation, the task, failure, patch or test output."`
	Before   string `json:"before" doc:"Text before the match."`
	Text     string `json:"match" doc:"The matching text as written there."`
	After    string `json:"after" doc:"Text after the match."`
	Part     string `json:"-"` // of the turn: action, label, other or observation
	Nth      int    `json:"-"` // index among the matches in that part, from 0
}
