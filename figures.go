package relabel

// Figures are an iteration's statistics over its trajectories in their current state.
type Figures struct {
	Iteration  Iteration             `json:"iteration"`
	Progress   Progress              `json:"progress"`
	Verdicts   map[VerdictKind]int   `json:"verdicts"`    // kinds without any are absent, as below
	EndReasons map[EndReason]int     `json:"end_reasons"` // of rollouts that are over
	Failures   map[FailureReason]int `json:"failures"`
	// Unresolved trajectories by the reason of their verdict and by the end of their rollout.
	// The reason "passed" counts those that pass and were not submitted.
	Unresolved     map[VerdictReason]int `json:"unresolved"`
	UnresolvedEnds map[EndReason]int     `json:"unresolved_ends"`
	// UnresolvedSubmitted is how many unresolved trajectories are valid submissions.
	UnresolvedSubmitted int `json:"unresolved_submitted"`
	// LackLabels is how many trajectories have a turn whose label is missing.
	LackLabels int `json:"lack_labels"`
	Compared   int `json:"compared"` // student turns with a label
	Agreed     int `json:"agreed"`   // of these, those whose action equals the label
	// Tool calls in executed actions, and those that the tool refused or failed. The student's
	// are also counted separately, since the mixture changes between iterations.
	ToolCalls           int           `json:"tool_calls"`
	ToolFailures        int           `json:"tool_failures"`
	StudentToolCalls    int           `json:"student_tool_calls"`
	StudentToolFailures int           `json:"student_tool_failures"`
	Spent               Spent         `json:"spent"`
	ByTurn              []TurnFigures `json:"by_turn"` // of turn t at t-1, up to the last one of any trajectory
	// KappaDrawn is the mean drawn student-prefix length (eq. 9), and KappaRun the mean number
	// of turns that the student executed, both in turns and over trajectories whose rollout has
	// ended; nil if nothing was drawn.
	KappaDrawn *float64 `json:"kappa_drawn"`
	KappaRun   *float64 `json:"kappa_run"`
}

// PassAtK is pass@k of an iteration with several generations: the chance that one of k generations
// of a task is resolved, by the unbiased estimator 1 − C(n−c, k)/C(n, k) from its n graded
// trajectories, of which c are resolved (stats.PassAtK). Infrastructure errors are not among the n.
type PassAtK struct {
	K     int      `json:"k" doc:"Number of generations."`
	Value *float64 `json:"value,omitempty" doc:"Mean over the tasks with at least k graded trajectories, 0 to 1; absent without any."`
	Tasks int      `json:"tasks" doc:"Tasks with at least k graded trajectories, which the mean is over."`
	Short int      `json:"short" doc:"Tasks with fewer, which it leaves out."`
}

// TurnFigures are the statistics of turn t over an iteration's trajectories.
type TurnFigures struct {
	Turns        int `json:"turns"` // trajectories that have turn t
	TeacherTurns int `json:"teacher_turns"`
	Compared     int `json:"compared"`
	Agreed       int `json:"agreed"`
}

// All is how many trajectories there are.
func (f Figures) All() (n int) {
	for _, of := range f.Progress.Trajectories {
		n += of
	}
	return n
}

// Ended is how many of them are done, failed or cancelled.
func (f Figures) Ended() (n int) {
	for state, of := range f.Progress.Trajectories {
		if state.Terminal() {
			n += of
		}
	}
	return n
}

// RealisedBeta is the share of turns that the teacher executed; nil without turns. It
// approaches the iteration's βi over many turns (eq. 8).
func (f Figures) RealisedBeta() *float64 { return share(f.Progress.TeacherTurns, f.Progress.Turns) }

// Resolution is the share of trajectories with a verdict that are resolved (submitted and
// passed); nil without any. Infrastructure errors do not count as verdicts.
func (f Figures) Resolution() *float64 { return share(f.Progress.Resolved, f.Progress.Verified) }

// Agreement is the share of compared student turns whose action equals the label; nil
// without any.
func (f Figures) Agreement() *float64 { return share(f.Agreed, f.Compared) }

// ToolSuccess is the share of executed tool calls that succeeded; nil without any.
func (f Figures) ToolSuccess() *float64 { return share(f.ToolCalls-f.ToolFailures, f.ToolCalls) }

// StudentToolSuccess is ToolSuccess over the student's calls.
func (f Figures) StudentToolSuccess() *float64 {
	return share(f.StudentToolCalls-f.StudentToolFailures, f.StudentToolCalls)
}

// Agreement is the agreement of all trajectories at this turn; nil if nothing was compared.
func (f TurnFigures) Agreement() *float64 { return share(f.Agreed, f.Compared) }

func share(of, all int) *float64 {
	if all == 0 {
		return nil
	}
	s := float64(of) / float64(all)
	return &s
}

// CountRibbon adds a trajectory's turns to ByTurn.
func (f *Figures) CountRibbon(r Ribbon) {
	for i, letter := range []byte(r) {
		if i == len(f.ByTurn) {
			f.ByTurn = append(f.ByTurn, TurnFigures{})
		}
		turn := &f.ByTurn[i]
		turn.Turns++
		switch letter {
		case 'T':
			turn.TeacherTurns++
		case 'a':
			turn.Agreed++
			turn.Compared++
		case 'd':
			turn.Compared++
		}
	}
}
