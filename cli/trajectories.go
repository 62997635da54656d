package cli

import (
	"context"
	"fmt"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// TrajectoryCommand is `relabel trajectory`.
type TrajectoryCommand struct {
	List   trajectoryList   `cmd:"" help:"List trajectories, newest first."`
	Search trajectorySearch `cmd:"" help:"Search trajectories for a text: in actions, labels, observations, submissions and the output of tests."`
	Export trajectoryExport `cmd:"" help:"Write trajectories in the Agent Trajectory Interchange Format (ATIF)."`
	Import trajectoryImport `cmd:"" help:"Import trajectories of other harnesses (ATIF) as a run, whose states a teacher can then label."`
}

// trajectoryList is `relabel trajectory list`.
type trajectoryList struct {
	ClientFlags
	api.TrajectoryQuery
}

// Run prints the trajectories.
func (c *trajectoryList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if err := mustExist(ctx, cl, c.TrajectoryQuery.Run); err != nil {
			return err
		}
		all, err := cl.Trajectories(ctx, client.Values(c.TrajectoryQuery))
		if err != nil {
			return err
		}
		return printTrajectories(all)
	})
}

func printTrajectories(all []relabel.Trajectory) error {
	heads := []string{"ID", "ITERATION", "INSTANCE", "STATE", "TURNS", "END", "SUBMITTED", "VERDICT", "RESOLVED", "SCORE", "HITS", "MODE", "FAILURE", "DETAIL",
		"TOKENS", "AGREEMENT", "MISSING", "FLAGS"}
	return printTable(all, heads, func(j relabel.Trajectory) []any {
		agreement := ""
		if j.Agreement != nil {
			agreement = fmt.Sprintf("%.2f", *j.Agreement)
		}
		score := ""
		if j.Score != nil {
			score = fmt.Sprintf("%.3f", *j.Score)
		}
		return []any{j.ID, fmt.Sprintf("%s %d", j.Kind, j.Iteration), j.InstanceID, j.State, j.Turns, j.EndReason, j.Submitted, j.Verdict, j.Resolved, score, j.Hits,
			j.FailureMode, j.Failure, j.FailureDetail, j.Tokens, agreement, j.LabelsMissing, strings.Join(j.Flags, ", ")}
	})
}
