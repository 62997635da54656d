package web

import (
	"context"
	"fmt"

	"relabel"
)

// judgesRow is what a judge said of a run with one prompt.
type judgesRow struct {
	relabel.JudgedFailures
	Judge string
}

// Iteration names an iteration.
func (judgesRow) Iteration(i relabel.JudgedIteration) string {
	return iterationName(relabel.Iteration{Kind: i.Kind, Number: i.Number})
}

// Short is the beginning of the prompt's hash.
func (r judgesRow) Short() string { return fmt.Sprintf("%.12s", r.Prompt) }

// Among describes a partition of an agreement.
func (judgesRow) Among(a relabel.JudgeAgreement) string {
	switch a.Among {
	case "submitted":
		return "submitted and unresolved"
	case "no_submission":
		return "no submission"
	}
	return "tool-use error"
}

// Mode describes a mode, or whether there is a tool-use error.
func (judgesRow) Mode(name string) string {
	switch name {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return modeWord(relabel.FailureMode(name))
}

// Kappa formats Cohen's kappa.
func (judgesRow) Kappa(a relabel.JudgeAgreement) string {
	if a.Kappa == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *a.Kappa)
}

// addJudges adds what judges said, the progress of judgings and their operations.
func (v *viewer) addJudges(ctx context.Context, view *failuresView, judges []relabel.JudgedFailures, mayChange bool) error {
	l, name := load{ctx: ctx}, remember(v.policyName)
	for _, j := range judges {
		row := judgesRow{JudgedFailures: j}
		read(&l, &row.Judge, name, j.PolicyID)
		view.Judges = append(view.Judges, row)
	}
	var progress []relabel.JudgeProgress
	read(&l, &progress, v.Store.JudgeProgress, relabel.JudgeSelection{RunID: view.Run.ID})
	for _, p := range progress {
		view.Judging += p.Judgings[relabel.JudgingQueued] + p.Judgings[relabel.JudgingRunning]
		view.JudgingFailed += p.Judgings[relabel.JudgingFailed]
		view.JudgingReasons = relabel.AddReasons(view.JudgingReasons, p.Reasons)
	}
	view.JudgingReasons = relabel.FirstReasons(view.JudgingReasons)
	if mayChange && view.Run.DeletingAt == nil {
		view.Operations = append(view.Operations, operationLink{"Judge…", runPath(view.Run.ID) + "/judgings"})
		if view.Judging > 0 {
			view.Operations = append(view.Operations, operationLink{"Cancel judging…", runPath(view.Run.ID) + "/judgings/cancel"})
		}
	}
	return l.err
}

// judgedView is what one judge said of a trajectory.
type judgedView struct {
	relabel.Judging
	Judge string
}

// Final reports whether the judged mode decides over the computed one.
func (j judgedView) Final(computed relabel.FailureMode) bool {
	return j.Mode != computed && relabel.FinalMode(computed, j.Mode) == j.Mode
}

// SawToolError reports whether the judge saw a tool-use error.
func (j judgedView) SawToolError() bool {
	return j.ToolUseError != nil && *j.ToolUseError
}

// mostJudgings bounds the judgings that a trajectory's page shows.
const mostJudgings = 20

// judgingsOf are the newest judgings of a trajectory.
func (v *viewer) judgingsOf(ctx context.Context, trajectory relabel.ID) ([]judgedView, error) {
	list, _, err := v.Store.ListJudgings(ctx, relabel.JudgingFilter{TrajectoryID: &trajectory, State: relabel.JudgingDone}, relabel.Page{Limit: mostJudgings})
	if err != nil {
		return nil, err
	}
	l, name := load{ctx: ctx}, remember(v.policyName)
	shown := make([]judgedView, len(list))
	for i, j := range list {
		shown[i].Judging = j
		read(&l, &shown[i].Judge, name, j.PolicyID)
	}
	return shown, l.err
}
