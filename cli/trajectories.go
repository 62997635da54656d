package cli

import (
	"context"
	"fmt"
	"net/url"
	"relabel/api"
	"relabel/api/client"
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
	api.TrajectoryQuery
}

// trajectoryValues are the parameters of a query whose run must exist.
func trajectoryValues(ctx context.Context, cl *Session, query api.TrajectoryQuery) (url.Values, error) {
	if query.Run != "" {
		if _, err := findRun(ctx, cl, query.Run); err != nil {
			return nil, err
		}
	}
	return client.Values(query), nil
}

// Run prints the trajectories.
func (c *trajectoryList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		query, err := trajectoryValues(ctx, cl, c.TrajectoryQuery)
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
