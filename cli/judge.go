package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// runJudge is `relabel run judge RUN`.
type runJudge struct {
	runFlags
	api.NewJudging
	Estimate bool `help:"Show what the judgements would cost and queue nothing."`
	Cancel   bool `help:"Cancel all judgings of the policy in the run, or in --iteration, instead; judgements are kept."`
	Detach   bool `help:"Do not wait for the end."`
}

// Validate refuses what a cancellation does not take.
func (c *runJudge) Validate() error {
	if c.Cancel && (len(c.Modes) > 0 || c.Sample != 0 || c.Seed != 0 || c.HideGold || c.Priority != 0) {
		return relabel.Errorf(relabel.CodeInvalid, "cancels all judgings of the policy in the run, or in --iteration: omit --mode, --sample, --seed, --hide-gold and --priority").On("--cancel")
	}
	return nil
}

// Run shows the cost, queues the judgings and watches them.
func (c *runJudge) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		policy, err := FindPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		c.Policy = policy.ID.String()
		if c.Cancel {
			answer, err := cl.CancelJudgings(ctx, run.ID, api.CancelJudgings{Policy: c.Policy, Iteration: c.Iteration})
			if err == nil {
				fmt.Printf("%d judgings are cancelled\n", answer.Cancelled)
			}
			return err
		}
		query := api.JudgeEstimateQuery{Policy: c.Policy, Iteration: c.Iteration, Modes: c.Modes, Sample: c.Sample, Seed: c.Seed, HideGold: c.HideGold}
		estimate, err := cl.EstimateJudgings(ctx, run.ID, client.Values(query))
		if err != nil {
			return err
		}
		printJudgeEstimate(estimate, policy)
		if c.Estimate {
			return nil
		}
		if _, err := cl.JudgeRun(ctx, run.ID, c.NewJudging); err != nil {
			return err
		}
		return c.watch(ctx, cl, run, policy, estimate.Prompt)
	})
}

// printJudgeEstimate prints what the judgements of a policy would cost.
func printJudgeEstimate(e relabel.JudgeEstimate, p relabel.Policy) {
	fmt.Printf("%s@%d: %d trajectories to judge, %d to %d calls, about %d tokens to send and %d to receive with one call for each\n",
		p.Name, p.Version, e.Trajectories, e.Trajectories, e.MostCalls, e.Tokens, e.AnswerTokens)
	if e.LeastCostMicros != nil && e.MostCostMicros != nil {
		fmt.Printf("cost: %.2f to %.2f %s\n", float64(*e.LeastCostMicros)/1e6, float64(*e.MostCostMicros)/1e6, e.Currency)
	}
}

// progressQuery asks for the judgings of the selected trajectories.
func (c *runJudge) progressQuery() api.JudgeProgressQuery {
	return api.JudgeProgressQuery{Iteration: c.Iteration, Modes: c.Modes, Sample: c.Sample, Seed: c.Seed}
}

// watch waits until the judgings of the selected trajectories by one policy with one prompt are over.
func (c *runJudge) watch(ctx context.Context, cl *Session, run relabel.Run, policy relabel.Policy, prompt string) error {
	sum := relabel.JudgeProgress{}
	over, err := cl.watchWork(ctx, "judging", c.Detach, func() (line string, over bool, err error) {
		all, err := cl.JudgeProgress(ctx, run.ID, client.Values(c.progressQuery()))
		sum = judgedBy(all.Items, policy.ID, prompt)
		open := sum.Judgings[relabel.JudgingQueued] + sum.Judgings[relabel.JudgingRunning]
		line = fmt.Sprintf("%s@%d: %d judged, %d invalid, %d missing, %d pending", policy.Name, policy.Version,
			sum.Outcomes[relabel.Judged], sum.Outcomes[relabel.JudgeInvalid], sum.Outcomes[relabel.JudgeMissing], open)
		return line, open == 0, err
	})
	if err != nil || !over {
		return err
	}
	if len(sum.Reasons) > 0 && sum.Outcomes[relabel.Judged] > 0 {
		say("without a judgement: %s", relabel.ReasonText(sum.Reasons))
	}
	return judgedAll(sum)
}

// judgedBy sums the judgings by one policy with one prompt. Judgements with an older prompt are of another
// request.
func judgedBy(all []relabel.JudgeProgress, policy relabel.ID, prompt string) relabel.JudgeProgress {
	sum := relabel.JudgeProgress{Judgings: map[relabel.JudgingState]int{}, Outcomes: map[relabel.JudgeOutcome]int{}}
	for _, p := range all {
		if p.PolicyID == policy && p.Prompt == prompt {
			sum.Add(p)
		}
	}
	return sum
}

// judgedAll returns an error if judgings failed or were cancelled, or if there is no judgement.
func judgedAll(sum relabel.JudgeProgress) error {
	if n := sum.Judgings[relabel.JudgingFailed]; n > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "%d judgings failed: %s", n, relabel.ReasonText(sum.Reasons))
	}
	if n := sum.Judgings[relabel.JudgingCancelled]; n > 0 {
		return relabel.Errorf(relabel.CodeConflict, "%d judgings were cancelled", n)
	}
	if sum.Outcomes[relabel.Judged] == 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "no trajectory has a judgement: %s", relabel.ReasonText(sum.Reasons))
	}
	return nil
}
