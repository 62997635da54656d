package relabel

// JudgedFailures compares the failure modes that a judge gave with one prompt with the computed ones.
type JudgedFailures struct {
	PolicyID      ID                `json:"policy_id" doc:"The judge."`
	Prompt        string            `json:"prompt" doc:"Hash of the prompt."`
	PromptVersion int               `json:"prompt_version" doc:"Version of the prompt."`
	Gold          bool              `json:"gold" doc:"Whether the judge sees gold patches."`
	Iterations    []JudgedIteration `json:"iterations" nullable:"false" doc:"The iterations with judgings that are done, in order of creation."`
	Agreements    []JudgeAgreement  `json:"agreements" nullable:"false" doc:"Agreement of computed and judged modes over all iterations: of submissions, of trajectories without one, and of tool-use errors."`
}

// JudgedIteration are the modes of the judged trajectories of one iteration.
type JudgedIteration struct {
	IterationID ID            `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind `json:"kind" doc:"The iteration's kind."`
	Number      int           `json:"number" doc:"The iteration's number."`
	Judged      int           `json:"judged" doc:"Trajectories with a judgement."`
	Invalid     int           `json:"invalid" doc:"Trajectories whose judge gave no valid answer."`
	Missing     int           `json:"missing" doc:"Trajectories whose judge gave no answer."`
	// What judges did not see of the trajectories with a judgement.
	HiddenTurns    int           `json:"hidden_turns" doc:"Turns that were not shown to the judge, in all judged trajectories."`
	ShortenedTexts int           `json:"shortened_texts" doc:"Texts that were shown to the judge in part, in all judged trajectories."`
	Unresolved     []JudgedCount `json:"unresolved" nullable:"false" doc:"Modes of judged submissions, among these."`
	NoSubmission   []JudgedCount `json:"no_submission" nullable:"false" doc:"Modes of judged trajectories without a valid submission, among these."`
	ToolUseError   JudgedCount   `json:"tool_use_error" doc:"Judged trajectories with a tool-use error, among all judged ones."`
}

// JudgedCount counts one mode as it was computed and as it was judged, among the same trajectories.
type JudgedCount struct {
	Mode     FailureMode `json:"mode,omitempty" doc:"The mode; absent for tool-use errors."`
	Computed Proportion  `json:"computed" doc:"Trajectories with this computed mode."`
	Judged   Proportion  `json:"judged" doc:"Trajectories with this judged mode."`
	// Final follows the precedence of FinalMode; nil for tool-use errors.
	Final *Proportion `json:"final,omitempty" doc:"Trajectories with this mode if the judge decides where the computed mode is other or wrong_solution; absent for tool-use errors."`
}

// JudgeAgreement compares the computed with the judged modes of the same trajectories.
type JudgeAgreement struct {
	Among     string           `json:"among" doc:"submitted: submissions that do not pass. no_submission: trajectories without a valid one. tool_use_error: whether there is a tool-use error, of both."`
	Equal     Proportion       `json:"equal" doc:"Trajectories with equal modes."`
	Kappa     *float64         `json:"kappa,omitempty" doc:"Cohen's kappa: agreement beyond that of independent modes with the same counts; absent if all have one and the same mode, or without any."`
	Confusion []ConfusionCount `json:"confusion" nullable:"false" doc:"Trajectories by computed and judged mode; pairs without any are absent."`
}

// ConfusionCount is a cell of the table of computed and judged modes. For tool-use errors both are true or
// false.
type ConfusionCount struct {
	Computed string `json:"computed" doc:"Computed mode, or true or false for tool-use errors."`
	Judged   string `json:"judged" doc:"Judged mode, or true or false for tool-use errors."`
	Count    int    `json:"count" doc:"Trajectories."`
}

// FinalMode is the mode by precedence: the computed one, except for the remainders other and
// wrong_solution, which say only that no rule holds; there the judge decides.
func FinalMode(computed, judged FailureMode) FailureMode {
	if computed == ModeOther || computed == ModeWrongSolution {
		return judged
	}
	return computed
}
