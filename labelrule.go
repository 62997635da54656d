package relabel

import (
	"context"
	"strings"
)

// LabelRule says at which states of the student the teacher is asked for a label, as text: all,
// every:K, uncertain:X, after_failure, first_after_parting:N or teacher_turns:K, all but the first and
// the last with an optional floor, such as every:4+0.1. Package labelrule has their meaning.
type LabelRule string

// Selects reports whether the rule leaves out states of the student: neither all does, nor a rule that
// ends rollouts.
func (r LabelRule) Selects() bool {
	return r != LabelAll && !strings.HasPrefix(string(r), "teacher_turns:")
}

// LabelAll asks the teacher at every state.
const LabelAll LabelRule = "all"

// LabelledTrajectory are the states of a done trajectory of a collect iteration, as far as label
// rules and their simulation depend on them.
type LabelledTrajectory struct {
	IterationID ID
	TaskID      ID
	InstanceID  string
	Generation  int // from 0
	Executors   Executors
	Cut         bool            // the run's rule ended the rollout
	States      []LabelledState // one per turn, in order
}

// LabelledState is the state of a turn with its label.
type LabelledState struct {
	Status ActionStatus // of the label
	Agrees *bool        // whether the student's action equals its label; nil if they are not compared
	Usage  *Usage       // of the label; nil if its server did not report any
	// AfterFailure says whether a call of the turn before failed or had an exit code other than 0.
	AfterFailure bool
	// Uncertainty is the mean negative log-probability of the tokens of the student's action, in nats
	// per token; nil if the student did not act, or its server returned none.
	Uncertainty *float64
}

// LabelSimulation compares label rules on the stored labels of a run's collect iterations.
type LabelSimulation struct {
	RunID ID              `json:"run_id" doc:"The run."`
	Rules []SimulatedRule `json:"rules" nullable:"false" doc:"The rules in the order of the request."`
	// Uncertainty describes the student's states, to choose the threshold of a rule.
	Uncertainty []UncertaintyQuantiles `json:"uncertainty" nullable:"false" doc:"The student's uncertainty by iteration; empty unless a rule depends on it."`
}

// SimulatedRule is what a label rule would have saved and lost.
type SimulatedRule struct {
	Rule LabelRule `json:"rule" doc:"The rule."`
	// Unbiased: the weighted sum over the selected labels has the full sum as its expectation.
	Unbiased   bool                 `json:"unbiased" doc:"Whether each state of the student has a positive probability, so that the sum over labels with weight 1 / probability is unbiased. If there are states in not_asked, this is about the others only."`
	Total      SimulatedLabels      `json:"total" doc:"All iterations together."`
	Iterations []SimulatedIteration `json:"iterations" nullable:"false" doc:"The collect iterations in order of creation."`
}

// SimulatedIteration are the figures of a rule in one iteration.
type SimulatedIteration struct {
	IterationID ID  `json:"iteration_id" doc:"The iteration."`
	Number      int `json:"number" doc:"The iteration's number."`
	SimulatedLabels
}

// SimulatedLabels are the figures of a rule in done trajectories.
type SimulatedLabels struct {
	Trajectories  int `json:"trajectories" doc:"Done trajectories."`
	TeacherStates int `json:"teacher_states" doc:"States in which the teacher acted; its action is the label."`
	StudentStates int `json:"student_states" doc:"States in which the student acted."`
	NotAsked      int `json:"not_asked" doc:"Student states, counted in student_states, at which the teacher was not asked when they were collected; all figures below are of the other states."`
	Cut           int `json:"cut" doc:"Trajectories that the rule teacher_turns ended when they were collected: the states that would have followed are in no figure."`
	// Selected counts student states; Expected is the sum of their probabilities, which does not
	// depend on the draw.
	Selected int     `json:"selected" doc:"Student states that the rule selects."`
	Expected float64 `json:"expected" doc:"Sum of the probabilities of student states: the mean of selected over all seeds."`
	Unknown  int     `json:"unknown" doc:"Selected student states without log-probabilities, at which the rule asks since it cannot decide."`

	Labels        LabelCount `json:"labels" doc:"Received labels of all states."`
	MissingLabels LabelCount `json:"missing_labels" doc:"Labels that are missing although the teacher was asked."`

	All   TeacherUse `json:"all" doc:"Answers of the teacher in all states."`
	Saved TeacherUse `json:"saved" doc:"Those that the rule would not have asked for."`
	// WithoutUsage answers are in calls, and in neither tokens nor cost.
	WithoutUsage int `json:"without_usage" doc:"Answers in all.calls without a token count; they are in neither tokens nor cost."`

	Recall    Proportion `json:"recall" doc:"Selected states among the student states whose label differs from the action."`
	Precision Proportion `json:"precision" doc:"States whose label differs among the selected student states with a label."`

	// Rate and Estimate are of student states with a received label.
	Rate     *float64 `json:"rate,omitempty" doc:"Share of the student states whose label differs, from all labels; absent without any."`
	Estimate *float64 `json:"estimate,omitempty" doc:"The same from the selected labels with their weights: Σ w·differs / Σ w; absent without any."`
	Error    *float64 `json:"error,omitempty" doc:"estimate − rate: for an unbiased rule the error of this draw, about 0 on average over seeds; else the rule's bias on these labels."`
	// Weight is Σ w over the received labels that the rule keeps, Effective (Σ w)² / Σ w².
	Weight    float64 `json:"weight" doc:"Sum of the weights of the kept labels; with an unbiased rule its mean over all seeds is labels.all."`
	Effective float64 `json:"effective" doc:"Effective number of kept labels: (Σ w)² / Σ w²."`
}

// Asked counts the student states at which the teacher was asked.
func (l SimulatedLabels) Asked() int { return l.StudentStates - l.NotAsked }

// LabelCount counts labels and those that a rule keeps.
type LabelCount struct {
	All  int `json:"all" doc:"All of them."`
	Kept int `json:"kept" doc:"Those that the rule keeps."`
}

// TeacherUse is the usage of answers of the teacher. Failed tries are not in it.
type TeacherUse struct {
	Calls  int      `json:"calls" doc:"Answers."`
	Tokens int64    `json:"tokens" doc:"Tokens of prompts and answers together."`
	Cost   *float64 `json:"cost,omitempty" doc:"Cost by the teacher's price of today; absent if it has none."`
}

// UncertaintyQuantiles describe the uncertainty of an iteration's student states.
type UncertaintyQuantiles struct {
	IterationID ID  `json:"iteration_id" doc:"The iteration."`
	Number      int `json:"number" doc:"The iteration's number."`
	Known       int `json:"known" doc:"Student states with log-probabilities of the action's tokens."`
	Unknown     int `json:"unknown" doc:"Student states without."`
	// Quantiles are at 0.1, 0.25, 0.5, 0.75 and 0.9; empty without known states.
	Quantiles []Quantile `json:"quantiles" nullable:"false" doc:"Quantiles of the mean negative log-probability, in nats per token."`
}

// Quantile is a value below which a share of all values lies.
type Quantile struct {
	At    float64 `json:"at" doc:"The share, 0 to 1."`
	Value float64 `json:"value" doc:"The value."`
}

// LabelRuleStore reads what label rules depend on.
type LabelRuleStore interface {
	// EachLabelledTrajectory calls visit with each done trajectory of a run's collect iterations that has
	// turns, in any order, and returns its error; none if there is no such run. Only some trajectories are
	// in memory at a time. Without logprobs, all uncertainties are nil.
	EachLabelledTrajectory(ctx context.Context, run ID, logprobs bool, visit func(LabelledTrajectory) error) error
}
