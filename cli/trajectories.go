package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// TrajectoryCommand is `relabel trajectory`.
type TrajectoryCommand struct {
	List   trajectoryList   `cmd:"" help:"List trajectories, newest first."`
	Search trajectorySearch `cmd:"" help:"Look for a text in what trajectories hold: actions, labels, observations, submissions, output of tests."`
}

// trajectoryList is `relabel trajectory list`.
type trajectoryList struct {
	ClientFlags
	trajectoryFilter
}

// trajectoryFilter are the filters of REST.
type trajectoryFilter struct {
	RunName       string `name:"run" placeholder:"RUN" help:"Only of this run: its name or id."`
	Iteration     string `help:"Only of this iteration: its id, or a number."`
	Taskset       string `placeholder:"ID" help:"Only of runs over this task set."`
	Task          string `placeholder:"ID" help:"Only of this task."`
	Instance      string `help:"Only of tasks with this instance id."`
	InstancePart  string `placeholder:"TEXT" help:"Only of tasks whose instance id holds this."`
	Q             string `name:"find" placeholder:"TEXT" help:"Only where this stands in the instance id, in why it failed, in an error of its verifier, or in a review. Texts of turns are not looked at: trajectory search does that."`
	State         string `help:"Only in this state."`
	Verdict       string `help:"Only with this verdict of the tests: passed, failed, error or none."`
	VerdictReason string `placeholder:"REASON" help:"Only with a verdict for this reason: tests, empty_patch, patch_does_not_apply, …"`
	EndReason     string `help:"Only rollouts that ended so."`
	Failure       string `help:"Only failed for this reason."`
	Submitted     string `help:"true or false: only with, or without, a valid submission."`
	Resolved      string `help:"true: only resolved, that is submitted and passed; false: only with a verdict and not resolved."`
	Labels        string `help:"missing: only where some label could not be had."`
	TurnsMin      string `placeholder:"N" help:"Only with as many turns, or more."`
	TurnsMax      string `placeholder:"N" help:"Only with as many turns, or fewer."`
	AgreementMin  string `placeholder:"X" help:"Only with this agreement, 0 to 1, or more."`
	AgreementMax  string `placeholder:"X" help:"Only with this agreement, 0 to 1, or less."`
	Flag          string `help:"Only with a review that has this flag; *: with any."`
	Reviewed      string `help:"true or false: only with, or without, a review."`
	Sort          string `help:"newest, oldest, most_turns, fewest_turns, most_tokens, fewest_tokens, highest_agreement, lowest_agreement, earliest_difference or latest_difference."`
}

// query is the filter in the words of REST.
func (f trajectoryFilter) query(ctx context.Context, cl *Session) (url.Values, error) {
	query := url.Values{}
	for name, value := range map[string]string{"iteration": f.Iteration, "taskset": f.Taskset, "task": f.Task, "instance": f.Instance, "instance_part": f.InstancePart,
		"q": f.Q, "state": f.State, "verdict": f.Verdict, "verdict_reason": f.VerdictReason, "end_reason": f.EndReason, "failure": f.Failure, "submitted": f.Submitted, "resolved": f.Resolved, "labels": f.Labels,
		"turns_min": f.TurnsMin, "turns_max": f.TurnsMax, "agreement_min": f.AgreementMin, "agreement_max": f.AgreementMax,
		"flag": f.Flag, "reviewed": f.Reviewed, "sort": f.Sort} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.RunName != "" {
		run, err := findRun(ctx, cl, f.RunName)
		if err != nil {
			return nil, err
		}
		query.Set("run", run.ID.String())
	}
	return query, nil
}

// Run prints the trajectories.
func (c *trajectoryList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		query, err := c.query(ctx, cl)
		if err != nil {
			return err
		}
		all, err := cl.Trajectories(ctx, query)
		if err != nil {
			return err
		}
		t := NewTable("ID", "ITERATION", "INSTANCE", "STATE", "VERDICT", "RESOLVED", "TURNS", "TOKENS", "AGREEMENT", "MISSING", "END", "FAILURE", "DETAIL", "FLAGS")
		for _, j := range all {
			agreement := ""
			if j.Agreement != nil {
				agreement = fmt.Sprintf("%.2f", *j.Agreement)
			}
			t.Row(j.ID, fmt.Sprintf("%s %d", j.Kind, j.Iteration), j.InstanceID, j.State, j.Verdict, Truth(j.Resolved), j.Turns, j.Tokens, agreement, j.LabelsMissing, j.EndReason, j.Failure, oneLine(j.FailureDetail), strings.Join(j.Flags, ", "))
		}
		return t.Print()
	})
}
