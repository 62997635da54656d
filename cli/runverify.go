package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// runVerify is `relabel run verify RUN`.
type runVerify struct {
	runFlags
	api.Regrade
	Status bool `help:"Show the state of the verdicts and queue nothing."`
	Cancel bool `help:"Cancel queued and running regradings; finished ones keep their new verdicts."`
	Detach bool `help:"Do not wait for the end."`
}

// Run queues the regradings and watches them.
func (c *runVerify) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		switch {
		case c.Status:
			p, err := c.progress(ctx, cl, run.ID)
			if err != nil {
				return err
			}
			return printVerdicts(p)
		case c.Cancel:
			answer, err := cl.CancelVerify(ctx, run.ID, api.CancelRegrade{Iteration: c.Iteration, Trajectory: c.Trajectory})
			if err == nil {
				fmt.Printf("%d regradings are cancelled\n", answer.Cancelled)
			}
			return err
		}
		if _, err := cl.VerifyRun(ctx, run.ID, c.Regrade); err != nil {
			return err
		}
		return c.watch(ctx, cl, run)
	})
}

func (c *runVerify) progress(ctx context.Context, cl *Session, run relabel.ID) (relabel.RegradeProgress, error) {
	query := api.RegradeQuery{Iteration: c.Iteration}
	if c.Trajectory != nil {
		query.Trajectory = c.Trajectory.String()
	}
	return cl.VerifyProgress(ctx, run, client.Values(query))
}

// watch waits until no regrading is queued or running, and prints the verdicts.
func (c *runVerify) watch(ctx context.Context, cl *Session, run relabel.Run) error {
	var p relabel.RegradeProgress
	over, err := cl.watchWork(ctx, "grading", c.Detach, func() (line string, over bool, err error) {
		p, err = c.progress(ctx, cl, run.ID)
		return regradeLine(p), p.Open() == 0, err
	})
	if err != nil || !over {
		return err
	}
	if err := printVerdicts(p); err != nil {
		return err
	}
	return regraded(p)
}

// regradeLine is the progress in one line.
func regradeLine(p relabel.RegradeProgress) string {
	if len(p.Regradings) == 0 {
		return fmt.Sprintf("every verdict is of version %d of the protections: nothing is graded again (--all does)", p.Protections)
	}
	return fmt.Sprintf("%d queued, %d running, %d done, %d failed; %d verdicts changed, %d infrastructure errors", p.Regradings[relabel.RegradeQueued],
		p.Regradings[relabel.RegradeRunning], p.Regradings[relabel.RegradeDone], p.Regradings[relabel.RegradeFailed], p.Changed, p.Errors)
}

// printVerdicts prints the current verdicts by version, and the trajectories that could not be
// graded.
func printVerdicts(p relabel.RegradeProgress) error {
	t := newTable("PROTECTIONS", "VERDICTS", "PASSED")
	for _, v := range p.Verdicts {
		version := fmt.Sprint(v.Protections)
		if v.Protections == p.Protections {
			version += " (present)"
		}
		t.row(version, v.Verdicts, v.Passed)
	}
	if err := t.print(); err != nil || len(p.Failures) == 0 {
		return err
	}
	fmt.Println("\nNot graded; their verdicts are unchanged:")
	t = newTable("TRAJECTORY", "INSTANCE", "WHY")
	for _, f := range p.Failures {
		t.row(f.TrajectoryID, f.InstanceID, f.Failure)
	}
	if more := p.Regradings[relabel.RegradeFailed] - len(p.Failures); more > 0 {
		t.row(fmt.Sprintf("and %d more", more), "", "")
	}
	return t.print()
}

// regraded returns an error if a submission could not be graded.
func regraded(p relabel.RegradeProgress) error {
	if n := p.Regradings[relabel.RegradeFailed]; n > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "%d submissions could not be graded and keep their verdict; repeat `relabel run verify` after fixing the cause", n)
	}
	return nil
}
