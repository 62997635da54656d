package cli

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"relabel"
	"relabel/api"
)

// runVerify is `relabel run verify RUN`.
type runVerify struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
	api.Regrade
	Status bool `help:"Show the state of the verdicts and queue nothing."`
	Cancel bool `help:"Cancel queued and running regradings; replaced verdicts stay."`
	Detach bool `help:"Do not wait for the end."`
}

// Run queues the regradings and watches them.
func (c *runVerify) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		switch {
		case c.Status:
			p, err := c.progress(ctx, cl, run.ID)
			if err != nil {
				return err
			}
			if err := printVerdicts(p); err != nil {
				return err
			}
			return printRegradeFailures(p)
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
	query := url.Values{}
	if c.Iteration != "" {
		query.Set("iteration", c.Iteration)
	}
	if c.Trajectory != nil {
		query.Set("trajectory", c.Trajectory.String())
	}
	return cl.VerifyProgress(ctx, run, query)
}

// watch waits until no regrading is queued or running, and prints the verdicts.
func (c *runVerify) watch(ctx context.Context, cl *Session, run relabel.Run) error {
	if cl.local != nil && !c.Detach {
		fmt.Println("No server runs here: `relabel serve` will grade them.")
	} else if !c.Detach {
		sayIfNobodyWorks(ctx, cl)
	}
	for said := ""; ; {
		p, err := c.progress(ctx, cl, run.ID)
		if ctx.Err() != nil {
			return Interruptedf("the grading continues %s", cl.elsewhere())
		}
		if err != nil {
			return err
		}
		if line := regradeLine(p); line != said {
			fmt.Println(line)
			said = line
		}
		switch {
		case p.Open() == 0:
			if err := printVerdicts(p); err != nil {
				return err
			}
			if err := printRegradeFailures(p); err != nil {
				return err
			}
			return regraded(p)
		case c.Detach, cl.local != nil:
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// regradeLine is the progress in one line.
func regradeLine(p relabel.RegradeProgress) string {
	if len(p.Regradings) == 0 {
		return fmt.Sprintf("every verdict is of version %d of the protections: nothing is graded again (--all does)", p.Protections)
	}
	return fmt.Sprintf("%d queued, %d running, %d done, %d failed; %d verdicts changed, %d infrastructure errors", p.Regradings[relabel.RegradeQueued],
		p.Regradings[relabel.RegradeRunning], p.Regradings[relabel.RegradeDone], p.Regradings[relabel.RegradeFailed], p.Changed, p.Errors)
}

// printVerdicts prints the current verdicts by version.
func printVerdicts(p relabel.RegradeProgress) error {
	t := NewTable("PROTECTIONS", "VERDICTS", "PASSED")
	for _, v := range p.Verdicts {
		version := fmt.Sprint(v.Protections)
		if v.Protections == p.Protections {
			version += " (present)"
		}
		t.Row(version, v.Verdicts, v.Passed)
	}
	return t.Print()
}

// printRegradeFailures names the trajectories that could not be graded, and why.
func printRegradeFailures(p relabel.RegradeProgress) error {
	if len(p.Failures) == 0 {
		return nil
	}
	fmt.Println("\nNot graded; their verdicts are as they were:")
	t := NewTable("TRAJECTORY", "INSTANCE", "WHY")
	for _, f := range p.Failures {
		t.Row(f.TrajectoryID, f.InstanceID, oneLine(f.Failure))
	}
	if more := p.Regradings[relabel.RegradeFailed] - len(p.Failures); more > 0 {
		t.Row(fmt.Sprintf("and %d more", more), "", "")
	}
	return t.Print()
}

// regraded is an error where a submission could not be graded.
func regraded(p relabel.RegradeProgress) error {
	if n := p.Regradings[relabel.RegradeFailed]; n > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "%d submissions could not be graded and keep their verdict; repeat `relabel run verify` after fixing the cause", n)
	}
	return nil
}
