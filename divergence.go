package relabel

import "context"

// Divergence compares a student with a teacher at the states that the student visited in one iteration:
// by the reverse KL divergence D_KL(πθ‖πe) of their scores (paper 4.4) where both are white boxes, and by
// the agreement of their actions.
type Divergence struct {
	IterationID  ID            `json:"iteration_id" doc:"The iteration."`
	Kind         IterationKind `json:"kind" doc:"Its kind."`
	Number       int           `json:"number" doc:"Its number among those of its kind."`
	StudentID    ID            `json:"student_id" doc:"The student."`
	TeacherID    ID            `json:"teacher_id" doc:"The policy that the student is compared with."`
	Trajectories int           `json:"trajectories" doc:"Done trajectories with scores of both policies."`
	Turns        int           `json:"turns" doc:"The student's turns with scores of both policies."`
	Unscored     int           `json:"unscored" doc:"The student's other turns in done trajectories; they are in no figure of scores."`
	Tokens       int           `json:"tokens" doc:"Tokens in the estimates."`
	Impossible   int           `json:"impossible" doc:"Tokens to which a policy gives no probability; they are in no estimate."`
	// The tokens were sampled at the student's sampling settings, and the scores are at temperature 1, so
	// the estimates are of the contexts that the former visits.
	ByToken      *KLEstimate `json:"by_token,omitempty" doc:"Means over all tokens; absent without scores."`
	ByTrajectory *KLEstimate `json:"by_trajectory,omitempty" doc:"Means over trajectories of their means over tokens; absent without scores."`
	TopTokens    int         `json:"top_tokens" doc:"Tokens with the most probable tokens of both policies."`
	Top          *Mean       `json:"top,omitempty" doc:"Mean over top_tokens of a lower bound of the divergence of whole distributions: the most probable tokens that both list, and all others taken as one. Absent without any."`
	Compared     int         `json:"compared" doc:"The student's turns whose first label was received."`
	Agreed       int         `json:"agreed" doc:"Turns among these whose action is the label's."`
	// Tools has at most MaxDivergenceTools entries and one for the rest.
	Tools []ToolAgreement `json:"tools" nullable:"false" doc:"The same by the tool that the student called first, the most frequent first; without a name: no call, or the sum of rare tools."`
}

// MaxDivergenceTools bounds the tools that a Divergence names: a model can invent any number of names.
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

// DivergenceStore compares students with teachers.
type DivergenceStore interface {
	// ListDivergences compares the students of a run's iterations with a teacher, by kind and number. The
	// first call after new scores reads those of their trajectories; it can take minutes for a large run.
	ListDivergences(ctx context.Context, run, teacher ID) ([]Divergence, error)
}
