package relabel

import "context"

// RunDivergence compares the students of a run with a teacher.
type RunDivergence struct {
	RunID     ID           `json:"run_id" doc:"The run."`
	Run       string       `json:"run" doc:"Its name."`
	Recipe    Recipe       `json:"recipe" doc:"Its recipe."`
	TeacherID ID           `json:"teacher_id" doc:"The policy that its students are compared with."`
	Teacher   string       `json:"teacher" doc:"Name and version of this policy."`
	Items     []Divergence `json:"items" nullable:"false" doc:"One per iteration with done trajectories that have turns of a student."`
}

// DivergenceReport compares runs by how far their students are from a teacher (paper 4.4).
type DivergenceReport struct {
	Runs []RunDivergence `json:"runs" nullable:"false" doc:"The runs in the order of the request."`
}

// Divergence compares a student with a teacher at the states that the student visited in one iteration:
// by the reverse KL divergence D_KL(πθ‖πe) of their scores (paper 4.4) where both are white boxes, and by
// the agreement of their actions.
type Divergence struct {
	IterationID  ID            `json:"iteration_id" doc:"The iteration."`
	Kind         IterationKind `json:"kind" doc:"Its kind."`
	Number       int           `json:"number" doc:"Its number among those of its kind."`
	Round        int           `json:"round" doc:"Its number in a comparison of runs: that of a collect iteration; of others, their place among those of their kind on the same benchmark or, without one, on the run's tasks."`
	BenchmarkID  *ID           `json:"benchmark_id,omitempty" doc:"The benchmark of its tasks, if it only measures; absent: tasks for training."`
	Benchmark    string        `json:"benchmark,omitempty" doc:"Name of the benchmark; absent: it has none."`
	StudentID    ID            `json:"student_id" doc:"The student."`
	Student      string        `json:"student" doc:"Name and version of the student."`
	TeacherID    ID            `json:"teacher_id" doc:"The policy that the student is compared with."`
	Greedy       bool          `json:"greedy" doc:"The student took the most probable tokens, so k1 and k3, which need sampled tokens, are not estimated."`
	Trajectories int           `json:"trajectories" doc:"Done trajectories with scores of both policies."`
	Turns        int           `json:"turns" doc:"The student's turns with scores of both policies."`
	Unscored     int           `json:"unscored" doc:"The student's other turns in done trajectories; they are in no figure of scores."`
	Tokens       int           `json:"tokens" doc:"Tokens in the estimates."`
	Impossible   int           `json:"impossible" doc:"Tokens to which a policy gives no probability; they are in no estimate."`
	// The tokens were sampled at the student's sampling settings, and the scores are at temperature 1, so
	// the estimates are of the contexts that the former visits.
	ByToken      *KLEstimate `json:"by_token,omitempty" doc:"Means over all tokens; absent without scores and if greedy."`
	ByTrajectory *KLEstimate `json:"by_trajectory,omitempty" doc:"Means over trajectories of their means over tokens; absent without scores and if greedy."`
	TopTokens    int         `json:"top_tokens" doc:"Tokens with the most probable tokens of both policies."`
	Top          *Mean       `json:"top,omitempty" doc:"Mean over top_tokens of a lower bound of the divergence of whole distributions: the most probable tokens that both list, and all others taken as one. Absent without any."`
	// Agreement is nil for another policy than the run's teacher: the first labels are not of it.
	Agreement *LabelAgreement `json:"agreement,omitempty" doc:"How often the student did what the first label says, which needs no scores; absent if the policy is not the run's teacher, whose labels these are."`
}

// LabelAgreement is how often a student's actions are those of the first labels.
type LabelAgreement struct {
	Compared  int       `json:"compared" doc:"The student's turns whose first label was received."`
	Agreed    int       `json:"agreed" doc:"Turns among these whose action is the label's."`
	LabelRule LabelRule `json:"label_rule" doc:"At which states of the student the teacher was asked for a label. Shares are of these states, which differ from the others if the rule selects."`
	// Tools has at most MaxDivergenceTools entries and one for the rest.
	Tools []ToolAgreement `json:"tools" nullable:"false" doc:"The same by the tool that the student called first, the most frequent first; without a name: no call, or the sum of rare tools."`
}

// MaxDivergenceTools bounds the tools that a LabelAgreement names: a model can invent any number of names.
const MaxDivergenceTools = 20

// KLEstimate has two unbiased estimators of the reverse KL divergence, in nats per token, from
// r = log πθ − log πe of tokens that πθ sampled.
type KLEstimate struct {
	K1 Mean `json:"k1" doc:"Mean of r: noisy."`
	K3 Mean `json:"k3" doc:"Mean of exp(−r) − 1 + r: never negative, and less noisy."`
}

// Mean is a mean with its interval of confidence 95%.
type Mean struct {
	Mean float64  `json:"mean" doc:"The mean."`
	Low  *float64 `json:"low,omitempty" doc:"Lower end of the 95% interval, whose standard error takes the tokens of a trajectory as dependent; absent with fewer than two trajectories."`
	High *float64 `json:"high,omitempty" doc:"Upper end of the interval."`
}

// ToolAgreement is how often a student's calls of a tool are those of the label.
type ToolAgreement struct {
	Tool     string `json:"tool" doc:"The tool that the student called first."`
	Rest     bool   `json:"rest,omitempty" doc:"The entry sums rare tools."`
	Compared int    `json:"compared" doc:"Turns whose first label was received."`
	Agreed   int    `json:"agreed" doc:"Turns among these whose action is the label's."`
}

// Name is the tool in words.
func (t ToolAgreement) Name() string {
	switch {
	case t.Rest:
		return "rare tools"
	case t.Tool == "":
		return "no call"
	}
	return t.Tool
}

// DivergenceStore compares students with teachers.
type DivergenceStore interface {
	// ListDivergences compares the students of a run's iterations with a teacher, by kind and number. The
	// first call after new scores reads those of their trajectories; it can take minutes for a large run.
	ListDivergences(ctx context.Context, run, teacher ID) ([]Divergence, error)
}
