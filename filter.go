package relabel

// MostPageBytes bounds the rows of a page, in bytes as they are stored. A page whose rows
// are larger has fewer items than its limit, one at least.
const MostPageBytes = 4 << 20

// Page asks for a part of a list, newest first unless the list says otherwise. Lists page
// by key, not by number.
type Page struct {
	After  string // the Next of the page before; "" for the first
	Before string // the Previous of the page after, where a list gives one; "" else
	Limit  int    // items; 0 means 50, at most 500; see also MostPageBytes
}

// TrajectoryFilter narrows a list of trajectories. Zero fields do not narrow.
type TrajectoryFilter struct {
	RunID           *ID
	IterationID     *ID
	IterationNumber int // of collect and evaluate iterations alike
	TasksetID       *ID
	TaskID          *ID
	InstanceID      string
	InstancePart    string // stands in the instance id, in whatever case
	Text            string // stands in the instance id, why it failed, an error of its verifier, or a review, in whatever case
	State           TrajectoryState
	EndReason       EndReason
	Failure         FailureReason
	Verdict         VerdictKind
	VerdictReason   VerdictReason
	Submitted       *bool
	Resolved        *bool // submitted and passed; false: a verdict, and not both
	LabelsMissing   bool  // some label could not be had
	MinTurns        *int
	MaxTurns        *int
	MinAgreement    *float64 // 0 to 1; those without an agreement are let through by neither
	MaxAgreement    *float64
	Flag            string // of a review of it; AnyFlag: of any
	Reviewed        *bool  // has a review, a note included, or none
}

// TrajectorySort says how a list of trajectories is sorted.
type TrajectorySort string

// The sorts. By a figure, trajectories that are over and have it come first, so that
// pages stay as they are while others run; then the others, newest first.
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
)

// TrajectorySorts lists every sort.
var TrajectorySorts = []TrajectorySort{Newest, Oldest, MostTurns, FewestTurns, MostTokens, FewestTokens,
	HighestAgreement, LowestAgreement, EarliestDifference, LatestDifference}

// TrajectoryPage is a page of a list of trajectories.
type TrajectoryPage struct {
	Items    []Trajectory `json:"items" doc:"The trajectories, as they are sorted."`
	Next     string       `json:"next" doc:"Pass it as after to get the next page; empty at the end."`
	Previous string       `json:"previous" doc:"Pass it as before to get the previous page; empty at the beginning."`
	Total    int          `json:"total" doc:"How many the filter lets through."`
	Exact    bool         `json:"exact" doc:"false: there are more than total, which is not counted further."`
	Of       int          `json:"of" doc:"How many trajectories the runs and iterations asked for have in all."`
}

// Idempotent is what is kept of a POST with an Idempotency-Key.
type Idempotent struct {
	Key      string
	Route    string // method and path
	BodyHash string // hex SHA-256 of the body
	Status   int    // of the answer; 0 while the first request is still at work
	Answer   []byte
}

// NewIteration asks for an iteration of a run.
type NewIteration struct {
	Kind        IterationKind
	StudentID   ID
	Beta        *float64 // instead of the schedule's βi
	Tasks       int      // how many tasks to draw with the run's seed; 0 means all
	Instances   []string // exactly these; they may be held out only when evaluating
	HeldOut     bool     // evaluate on the held-out tasks
	Again       *Draw    // exactly these tasks, drawn by another iteration; nil: a draw of its own
	Generations int      // rollouts a task; 0 means Again's, else 1
}

// Draw is what an iteration rolls out. It stays with the iteration, so that another one can
// roll out exactly the same.
type Draw struct {
	IterationID ID       `json:"iteration_id" doc:"The iteration."`
	TasksetID   ID       `json:"taskset_id" doc:"The task set of its run."`
	Generations int      `json:"generations" doc:"Rollouts a task."`
	Instances   []string `json:"instances" doc:"The instance ids, sorted."`
}

// PlannedIteration is an iteration with its trajectories, drawn and ready to be stored.
type PlannedIteration struct {
	Iteration    Iteration
	Trajectories []Trajectory
}

// TextSearch asks which trajectories hold a text, in whatever case of letters, and how much
// is read for an answer.
type TextSearch struct {
	Text  string // 1 to MostSearchedFor bytes
	After string // the Next of the page before; "" to begin
	Limit int    // trajectories with the text, after which a page ends; 0 means 50, at most 500
	Bytes int64  // of texts, after which it ends as well; 0 means 256 MiB
}

// MostSearchedFor is how long a text may be that is looked for, in bytes.
const MostSearchedFor = 500

// TextPage is what a search through the texts of trajectories has found by the time that
// it ends: nothing is said of what it did not look through.
type TextPage struct {
	Items    []TextFound `json:"items" doc:"Trajectories that hold the text, as they are sorted."`
	Next     string      `json:"next" doc:"Pass it as after to go on behind the last trajectory that was looked through; empty when all were."`
	Searched int         `json:"searched" doc:"How many trajectories were looked through for this page, whether they hold the text or not."`
	Bytes    int64       `json:"bytes" doc:"How many bytes of their texts."`
	Total    int         `json:"total" doc:"How many the filter lets through, on all pages."`
	Exact    bool        `json:"exact" doc:"false: there are more than total, which is not counted further."`
	Of       int         `json:"of" doc:"How many trajectories the runs and iterations asked for have in all."`
}

// TextFound is a trajectory that holds the text.
type TextFound struct {
	Trajectory Trajectory `json:"trajectory" doc:"The trajectory."`
	Matches    int        `json:"matches" doc:"How often the text stands in it."`
	Places     int        `json:"places" doc:"In how many of its turns and of the texts beside them."`
	First      []Match    `json:"first" doc:"The first matches, at most three, one of each turn or text."`
}

// Match is where a text stands that was looked for, with some of what stands around it.
type Match struct {
	T        int    `json:"t,omitempty" doc:"The turn; absent: in none of them."`
	Executor Role   `json:"executor,omitempty" doc:"Who acted in the turn."`
	Place    string `json:"place" doc:"Where: thought, the name of an argument, label and either of them, observation, the task, failure, patch or test output."`
	Before   string `json:"before" doc:"What stands before it."`
	Text     string `json:"match" doc:"The text as it is written there."`
	After    string `json:"after" doc:"What stands after it."`
	Part     string `json:"-"` // of the turn: action, label, other or observation
	Nth      int    `json:"-"` // of the matches in that part, from 0
}
