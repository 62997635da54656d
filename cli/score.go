package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// runScore is `relabel run score RUN`.
type runScore struct {
	runFlags
	api.NewScoring
	Estimate bool `help:"Show what the scores would cost and queue nothing."`
	Cancel   bool `help:"Cancel these scorings instead; stored scores are kept."`
	Detach   bool `help:"Do not wait for the end."`
}

// Run shows the cost, queues the scorings and watches them.
func (c *runScore) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		policy, err := FindPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		c.Policy = policy.ID.String()
		if c.Cancel {
			answer, err := cl.CancelScores(ctx, run.ID, api.CancelScorings{Policy: c.Policy, Iteration: c.Iteration})
			if err == nil {
				fmt.Printf("%d scorings are cancelled\n", answer.Cancelled)
			}
			return err
		}
		query := api.EstimateQuery{Policy: c.Policy, Iteration: c.Iteration, TopK: c.TopK}
		estimate, err := cl.EstimateScores(ctx, run.ID, client.Values(query))
		if err != nil {
			return err
		}
		printEstimate(estimate, policy)
		if c.Estimate {
			return nil
		}
		if _, err := cl.ScoreRun(ctx, run.ID, c.NewScoring); err != nil {
			return err
		}
		return c.watch(ctx, cl, run, policy)
	})
}

// printEstimate prints what the scores of a policy would cost.
func printEstimate(e relabel.ScoreEstimate, p relabel.Policy) {
	fmt.Printf("%s@%d, at temperature 1: %d turns of %d trajectories, %d tokens to score (%d bytes), %d to %d tokens to send\n",
		p.Name, p.Version, e.Turns, e.Trajectories, e.Tokens, e.Bytes, e.LeastPrompt, e.MostPrompt)
	if e.LeastCostMicros != nil && e.MostCostMicros != nil {
		fmt.Printf("cost: %.2f to %.2f %s\n", float64(*e.LeastCostMicros)/1e6, float64(*e.MostCostMicros)/1e6, e.Currency)
	}
	if e.WithoutIDs > 0 {
		fmt.Printf("%d turns cannot be scored: the student's server gave no token ids\n", e.WithoutIDs)
	}
	for _, why := range e.Skipped {
		say("%s", why)
	}
}

// watch waits until the scorings of one policy are over.
func (c *runScore) watch(ctx context.Context, cl *Session, run relabel.Run, policy relabel.Policy) error {
	sum := relabel.ScoreProgress{}
	over, err := cl.watchWork(ctx, "scoring", c.Detach, func() (line string, over bool, err error) {
		all, err := cl.ScoreProgress(ctx, run.ID, client.Values(api.ScoreQuery{Iteration: c.Iteration}))
		sum = relabel.ScoreProgress{Scorings: map[relabel.ScoringState]int{}}
		for _, p := range all.Items {
			if p.PolicyID == policy.ID {
				sum.Add(p)
			}
		}
		line = fmt.Sprintf("%s@%d: %d of %d turns scored (%d tokens), %d missing, %d pending",
			policy.Name, policy.Version, sum.Received, sum.Turns, sum.Tokens, sum.Missing, sum.Pending)
		return line, sum.Scorings[relabel.ScoringQueued]+sum.Scorings[relabel.ScoringRunning] == 0, err
	})
	if err != nil || !over {
		return err
	}
	if len(sum.Reasons) > 0 && sum.Received > 0 {
		say("without a score: %s", relabel.ReasonText(sum.Reasons))
	}
	return scoredAll(sum)
}

// scoredAll returns an error if scorings failed or were cancelled, or if no turn has a score.
func scoredAll(sum relabel.ScoreProgress) error {
	if n := sum.Scorings[relabel.ScoringFailed]; n > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "%d scorings failed: %s", n, relabel.ReasonText(sum.Reasons))
	}
	if n := sum.Scorings[relabel.ScoringCancelled]; n > 0 {
		return relabel.Errorf(relabel.CodeConflict, "%d scorings were cancelled", n)
	}
	if sum.Received == 0 && sum.Missing > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "no turn has a score: %s", relabel.ReasonText(sum.Reasons))
	}
	return nil
}
