package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/failuremode"
	"relabel/safetext"
	"relabel/web/chart"
)

// failuresView is the page of a run's failure modes, in the layout of table 4.
type failuresView struct {
	Run    relabel.Run
	Rules  int
	Rows   []failuresRow
	Differ []relabel.IterationDisagreements
	Charts []chart.Chart
	Judges []judgesRow
	// Judging counts judgings that have not ended, JudgingFailed those whose policy cannot judge.
	Judging, JudgingFailed int
	JudgingReasons         []relabel.ReasonCount // why judgings gave no judgement
	Operations             []operationLink
}

// failuresRow is an iteration.
type failuresRow struct {
	relabel.IterationFailures
	Name, Link, Student string
	// Cells are the modes of submissions, then those without one, each with a link to the list.
	Cells []failuresCell
	Tool  failuresCell
}

// failuresCell is a proportion with the list of its trajectories.
type failuresCell struct {
	relabel.Proportion
	What, Link string
}

// Submitted and NotSubmitted are the columns of the two partitions.
func (v failuresView) Submitted() []relabel.FailureMode    { return relabel.SubmittedModes }
func (v failuresView) NotSubmitted() []relabel.FailureMode { return relabel.NotSubmittedModes }

func (v *viewer) failureRoutes() routes {
	to := routes{"GET /runs/{id}/failures": of(v.runOf, v.showFailures), "GET /runs/{id}/failures.csv": of(v.runOf, v.sendFailures)}
	v.addOperation(to, "/runs/{id}/judgings", on(v.runOf, v.judgeRun))
	v.addOperation(to, "/runs/{id}/judgings/cancel", on(v.runOf, v.cancelJudgings))
	return to
}

func (v *viewer) showFailures(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	report, err := failuremode.Read(r.Context(), v.Store, run.ID)
	if err != nil {
		return err
	}
	disagreements, err := v.disagreementReport(r.Context(), run.ID)
	if err != nil {
		return err
	}
	view := failuresView{Run: run, Rules: report.Rules, Differ: disagreements.Iterations, Charts: []chart.Chart{
		chart.Modes("submitted-modes", "Submitted and unresolved, by failure mode", report.Iterations, func(f relabel.IterationFailures) []relabel.FailureCount { return f.Unresolved }, modeWord),
		chart.Modes("other-modes", "Without a valid submission, by failure mode", report.Iterations, func(f relabel.IterationFailures) []relabel.FailureCount { return f.NoSubmission }, modeWord),
	}}
	l, name := load{ctx: r.Context()}, remember(v.policyName)
	for _, f := range report.Iterations {
		row := viewFailures(run, f)
		read(&l, &row.Student, name, f.StudentID)
		view.Rows = append(view.Rows, row)
	}
	if l.err != nil {
		return l.err
	}
	if err := v.addJudges(r.Context(), &view, report.Judges, mayChange(r)); err != nil {
		return err
	}
	return v.render(w, r, page{Template: "failures", Title: "Failure modes of " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{home, runCrumb(run)},
		Scripts: []string{"uplot.js", "chart.js"}, Follow: "/v1" + runPath(run.ID) + "/events", View: view})
}

// sendFailures sends the failure modes of a run as CSV, or its disagreements (?of=disagreements).
func (v *viewer) sendFailures(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	switch of := r.URL.Query().Get("of"); of {
	case "":
		report, err := failuremode.Read(r.Context(), v.Store, run.ID)
		l, judges := load{ctx: r.Context(), err: err}, failuremode.JudgeNames{}
		for _, j := range report.Judges {
			var name string
			read(&l, &name, v.policyName, j.PolicyID)
			judges[j.PolicyID] = name
		}
		if l.err != nil {
			return l.err
		}
		heads, rows := failuremode.Table(report, judges)
		return sendCSV(w, "failures", heads, rows)
	case "disagreements":
		report, err := v.disagreementReport(r.Context(), run.ID)
		if err != nil {
			return err
		}
		heads, rows := failuremode.DisagreementTable(report)
		return sendCSV(w, "disagreements", heads, rows)
	default:
		return relabel.Errorf(relabel.CodeInvalid, "is %.100q: give disagreements, or omit it", safetext.Plain(of)).On("of")
	}
}

func (v *viewer) disagreementReport(ctx context.Context, run relabel.ID) (relabel.DisagreementReport, error) {
	iterations, err := v.Store.ListIterations(ctx, run)
	if err != nil {
		return relabel.DisagreementReport{}, err
	}
	tallies, err := v.Store.ListComparisons(ctx, run)
	return failuremode.Disagreements(run, iterations, tallies), err
}

func viewFailures(run relabel.Run, f relabel.IterationFailures) failuresRow {
	list := func(name, value string) string {
		return "/trajectories?" + url.Values{"run": {run.ID.String()}, "iteration": {f.IterationID.String()}, name: {value}}.Encode()
	}
	row := failuresRow{IterationFailures: f, Name: fmt.Sprintf("%s %d", f.Kind, f.Number), Link: iterationPath(f.IterationID)}
	for _, counts := range [][]relabel.FailureCount{f.Unresolved, f.NoSubmission} {
		for _, c := range counts {
			row.Cells = append(row.Cells, failuresCell{c.Proportion, modeWord(c.Mode), list("failure_mode", string(c.Mode))})
		}
	}
	row.Tool = failuresCell{f.ToolUseError, "tool-use error", list("tool_use_error", string(relabel.ToolUseUnresolved))}
	return row
}

// proportionWords formats a share with its interval, in percent.
func proportionWords(p relabel.Proportion) string {
	if p.Share == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f%% [%.1f, %.1f]", 100**p.Share, 100**p.Low, 100**p.High)
}

// failureOf finds what the rules found in a trajectory; zero before that is computed.
func (v *viewer) failureOf(ctx context.Context, trajectory relabel.ID) (relabel.FailureFinding, error) {
	f, err := v.Store.FindFailure(ctx, trajectory)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return relabel.FailureFinding{}, nil
	}
	return f, err
}
