package relabel

// ActionPhase is what an action does for its task.
type ActionPhase string

// The phases of an action, by its first call; docs/failures.md has the rules.
const (
	PhaseExplore ActionPhase = "explore" // any other call
	PhaseEdit    ActionPhase = "edit"    // it changes files
	PhaseTest    ActionPhase = "test"    // it runs tests
	PhaseFinish  ActionPhase = "finish"
	PhaseNoCall  ActionPhase = "no_call"
)

// ActionPhases lists every phase.
var ActionPhases = []ActionPhase{PhaseExplore, PhaseEdit, PhaseTest, PhaseFinish, PhaseNoCall}

// TurnComparison counts student turns with a label by the tools and phases of both actions. A tool
// is that of the first call, "" without one, and "unknown" if the agent has no such tool.
type TurnComparison struct {
	StudentTool  string
	StudentPhase ActionPhase
	TeacherTool  string
	TeacherPhase ActionPhase
	Turns        int
	Agreed       int // of these, those whose action equals the label
}

// ComparisonTally are comparisons of a task's done trajectories in an iteration.
type ComparisonTally struct {
	IterationID ID
	TaskID      ID
	TurnComparison
}

// ToolDisagreement are the student's turns with a tool.
type ToolDisagreement struct {
	Tool string `json:"tool" doc:"Tool of the student's first call; empty without a call, unknown if the agent has no such tool."`
	Proportion
}

// PhaseDisagreement are the student's turns in a phase.
type PhaseDisagreement struct {
	Phase ActionPhase `json:"phase" doc:"Phase of the student's action: explore, edit, test, finish or no_call."`
	Proportion
}

// PhasePair counts the student's turns whose label differs by the phases of both actions.
type PhasePair struct {
	Student ActionPhase `json:"student" doc:"Phase of the student's action."`
	Teacher ActionPhase `json:"teacher" doc:"Phase of the label."`
	Turns   int         `json:"turns" doc:"Student turns whose label differs."`
}

// ToolPair counts the student's turns whose label differs by the tools of both actions.
type ToolPair struct {
	Student string `json:"student" doc:"Tool of the student's first call; empty without a call, unknown if the agent has no such tool."`
	Teacher string `json:"teacher" doc:"Tool of the label's first call, in the same way."`
	Turns   int    `json:"turns" doc:"Student turns whose label differs."`
}

// IterationDisagreements say where student and teacher differ in the done trajectories of a collect
// iteration. Intervals are clustered by task.
type IterationDisagreements struct {
	IterationID ID                  `json:"iteration_id" doc:"The iteration."`
	Number      int                 `json:"number" doc:"The iteration's number."`
	StudentID   ID                  `json:"student_id" doc:"The student."`
	LabelRule   LabelRule           `json:"label_rule" doc:"At which states of the student the teacher was asked for a label. Shares are of these states, which differ from the others if the rule selects."`
	Differ      Proportion          `json:"differ" doc:"Student turns whose label differs among those with a label."`
	ByTool      []ToolDisagreement  `json:"by_tool" nullable:"false" doc:"The same by the tool of the student's action."`
	ByPhase     []PhaseDisagreement `json:"by_phase" nullable:"false" doc:"The same by the phase of the student's action."`
	Pairs       []PhasePair         `json:"pairs" nullable:"false" doc:"Turns that differ by the phases of action and label, the most frequent first."`
	ToolPairs   []ToolPair          `json:"tool_pairs" nullable:"false" doc:"Turns that differ by the tools of action and label, the most frequent first; calls of one tool differ in their arguments."`
}

// DisagreementReport are the disagreements of a run's student and teacher by collect iteration.
type DisagreementReport struct {
	RunID      ID                       `json:"run_id" doc:"The run."`
	Iterations []IterationDisagreements `json:"iterations" nullable:"false" doc:"The collect iterations in order of creation."`
}
