package cli

import (
	"context"
	"fmt"
	"net/url"

	"relabel"
	"relabel/api"
)

// RunCommand is `relabel run`.
type RunCommand struct {
	Create       runCreate       `cmd:"" help:"Create a run: recipe, tasks, teacher, schedule, limits."`
	List         runList         `cmd:"" help:"List runs."`
	Iterate      runIterate      `cmd:"" help:"Start an iteration with this round's student, and watch it."`
	Watch        runWatch        `cmd:"" help:"Watch an iteration until it is over, also over a restart of the server."`
	Show         runShow         `cmd:"" help:"Show a run's iterations with their ids, and its usage."`
	Trajectories runTrajectories `cmd:"" help:"List the trajectories of a run."`
	Instances    runInstances    `cmd:"" help:"List the instances that an iteration rolls out, one per line."`
	Set          runSet          `cmd:"" help:"Change a run's priority, quota, budget or webhook."`
	Pause        runPause        `cmd:"" help:"Pause a run or an iteration; running turns finish first."`
	Resume       runResume       `cmd:"" help:"Resume a run or an iteration."`
	Cancel       runCancel       `cmd:"" help:"Cancel a run's iterations, or one iteration."`
	Label        runLabel        `cmd:"" help:"Start labelling now (runs with deferred or batch labels)."`
	Relabel      runRelabel      `cmd:"" help:"Label every state of done trajectories with another teacher."`
	Verify       runVerify       `cmd:"" help:"Grade stored submissions again under the verifier's present protections."`
	Delete       runDelete       `cmd:"" help:"Show what a run contains; with --yes delete it permanently."`
	Retry        runRetry        `cmd:"" help:"Retry an iteration's failed trajectories."`
}

// runCreate is `relabel run create`.
type runCreate struct {
	ClientFlags
	api.NewRun
	noticeFlags
}

// Run makes the run.
func (c *runCreate) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if _, err := findTaskset(ctx, cl, c.Taskset); err != nil {
			return err
		}
		if _, err := FindPolicy(ctx, cl, c.Teacher); err != nil {
			return err
		}
		body := c.NewRun
		body.Budget, body.Webhook = c.over(relabel.Run{})
		r, err := cl.CreateRun(ctx, body)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %s\n", r.ID, r.Name)
		return nil
	})
}

// runList is `relabel run list`.
type runList struct{ ClientFlags }

// Run prints the runs.
func (c *runList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		runs, err := cl.Runs(ctx)
		if err != nil {
			return err
		}
		t := NewTable("ID", "NAME", "RECIPE", "SEED", "MADE", "PRIORITY", "QUOTA", "PAUSED", "DELETING")
		for _, r := range runs {
			t.Row(r.ID, r.Name, r.Recipe, r.Seed, r.CreatedAt.Format("2006-01-02 15:04"), r.Priority, quota(r.Quota), paused(r.Paused), deletingSince(r.DeletingAt))
		}
		return t.Print()
	})
}

// findRun finds a run by its id or its name.
func findRun(ctx context.Context, cl *Session, nameOrID string) (relabel.Run, error) {
	r, err := cl.Run(ctx, nameOrID)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		err = relabel.Errorf(relabel.CodeNotFound, "no run %q; `relabel run list` shows what there is", nameOrID)
	}
	return r.Run, err
}

// runShow is `relabel run show RUN`.
type runShow struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
}

// Run prints the run's iterations.
func (c *runShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		if err := printRuns(ctx, cl, true, run); err != nil {
			return err
		}
		return printSpent(ctx, cl, run)
	})
}

// runTrajectories is `relabel run trajectories RUN`.
type runTrajectories struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
	State   string `help:"Only those in this state."`
}

// Run prints the trajectories.
func (c *runTrajectories) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		query := url.Values{"run": {run.ID.String()}}
		if c.State != "" {
			query.Set("state", c.State)
		}
		all, err := cl.Trajectories(ctx, query)
		if err != nil {
			return err
		}
		t := NewTable("ID", "ITERATION", "INSTANCE", "STATE", "TURNS", "END", "SUBMITTED", "PASSED", "RESOLVED", "FAILURE", "DETAIL")
		for _, j := range all {
			t.Row(j.ID, fmt.Sprintf("%s %d", j.Kind, j.Iteration), j.InstanceID, j.State, j.Turns, j.EndReason, Truth(j.Submitted), Truth(j.Passed), Truth(j.Resolved), j.Failure, oneLine(j.FailureDetail))
		}
		return t.Print()
	})
}

// Truth shows a truth that may not be known yet.
func Truth(b *bool) string {
	if b == nil {
		return ""
	}
	return Yes(*b)
}
