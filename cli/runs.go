package cli

import (
	"context"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// RunCommand is `relabel run`.
type RunCommand struct {
	Create         runCreate         `cmd:"" help:"Create a run: recipe, tasks, teacher, schedule, limits."`
	List           runList           `cmd:"" help:"List runs."`
	Iterate        runIterate        `cmd:"" help:"Start an iteration with this round's student, and watch it."`
	Watch          runWatch          `cmd:"" help:"Watch an iteration until it ends, even if the server restarts."`
	Show           runShow           `cmd:"" help:"Show a run's iterations with their ids, and what it has spent."`
	Trajectories   runTrajectories   `cmd:"" help:"List the trajectories of a run."`
	Instances      runInstances      `cmd:"" help:"List the instances that an iteration rolls out, one per line."`
	Set            runSet            `cmd:"" help:"Change a run's priority, quota, budget or webhook."`
	Pause          runPause          `cmd:"" help:"Pause a run or an iteration; running turns finish first."`
	Resume         runResume         `cmd:"" help:"Resume a run or an iteration."`
	Cancel         runCancel         `cmd:"" help:"Cancel a run's iterations, or one iteration."`
	Label          runLabel          `cmd:"" help:"Start labelling now (runs with deferred or batch labels)."`
	SimulateLabels runSimulateLabels `cmd:"" help:"Compare what rules for asking the teacher would have saved and lost on stored labels."`
	Relabel        runRelabel        `cmd:"" help:"Label every state of done trajectories with another teacher."`
	Score          runScore          `cmd:"" help:"Compute log-probabilities of the student's own tokens under a policy."`
	Judge          runJudge          `cmd:"" help:"Have a policy name the failure modes of unresolved trajectories."`
	Verify         runVerify         `cmd:"" help:"Grade stored submissions again with the verifier's current protections."`
	Delete         runDelete         `cmd:"" help:"Show what a run contains; with --yes delete it permanently."`
	Retry          runRetry          `cmd:"" help:"Retry an iteration's failed trajectories."`
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
		if c.Teacher != "" {
			if _, err := FindPolicy(ctx, cl, c.Teacher); err != nil {
				return err
			}
		}
		if err := mustExist(ctx, cl, c.HintsFrom); err != nil {
			return err
		}
		body := c.NewRun
		body.Budget, body.Webhook = c.over(relabel.Run{})
		r, err := cl.CreateRun(ctx, body)
		if err != nil {
			return err
		}
		say("%s  %s", r.ID, r.Name)
		sayHints(r)
		return printPreset(ctx, cl, r)
	})
}

// sayHints prints where a run's hints come from, if it has any.
func sayHints(r relabel.Run) {
	if r.HintsFrom != nil {
		say("%s", r.HintsFrom.Text())
	}
}

// printPreset prints the settings of a run with a preset beside the paper's.
func printPreset(ctx context.Context, cl *Session, r relabel.Run) error {
	if r.Preset == "" {
		return nil
	}
	view, err := cl.Run(ctx, r.ID.String())
	if err != nil {
		return err
	}
	t := newTable("SETTING", "VALUE", "PAPER", "WHERE", "BY", "")
	for _, row := range view.PresetRows {
		note := ""
		if row.Differs {
			note = "not the paper's"
		}
		t.row(row.Setting, row.Value, row.Paper, row.Where, row.By, note)
	}
	say("")
	say("%s:", r.Preset)
	return t.print()
}

// runList is `relabel run list`.
type runList struct{ ClientFlags }

// Run prints the runs.
func (c *runList) Run(ctx context.Context) error {
	heads := []string{"ID", "NAME", "RECIPE", "SEED", "CREATED", "PRIORITY", "QUOTA", "PAUSED", "DELETING SINCE"}
	return list(ctx, c.ClientFlags, (*Session).Runs, heads, func(r relabel.Run) []any {
		return []any{r.ID, r.Name, r.Recipe, r.Seed, r.CreatedAt, r.Priority, quota(r.Quota), paused(r.Paused), r.DeletingAt}
	})
}

// findRun finds a run by its id or its name.
func findRun(ctx context.Context, cl *Session, nameOrID string) (relabel.Run, error) {
	r, err := cl.Run(ctx, nameOrID)
	return named(r.Run, err, "run", nameOrID, "run list")
}

// mustExist returns an error if a run is given that does not exist.
func mustExist(ctx context.Context, cl *Session, nameOrID string) error {
	if nameOrID == "" {
		return nil
	}
	_, err := findRun(ctx, cl, nameOrID)
	return err
}

// runFlags name a run.
type runFlags struct {
	ClientFlags
	RunName string `arg:"" name:"run" help:"Name or id of the run."`
}

// withRun opens a session and calls use with the run.
func (f runFlags) withRun(ctx context.Context, use func(*Session, relabel.Run) error) error {
	return f.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, f.RunName)
		if err != nil {
			return err
		}
		return use(cl, run)
	})
}

// runShow is `relabel run show RUN`.
type runShow struct{ runFlags }

// Run prints the run's iterations.
func (c *runShow) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		if err := printRuns(ctx, cl, true, run); err != nil {
			return err
		}
		if err := printSpent(ctx, cl, run); err != nil {
			return err
		}
		sayHints(run)
		return printPreset(ctx, cl, run)
	})
}

// runTrajectories is `relabel run trajectories RUN`.
type runTrajectories struct {
	runFlags
	State relabel.TrajectoryState `enum:"queued,running,labelling,verifying,done,failed,cancelled," default:"" placeholder:"STATE" help:"Only in this state: queued, running, labelling, verifying, done, failed or cancelled."`
}

// Run prints the trajectories.
func (c *runTrajectories) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		all, err := cl.Trajectories(ctx, client.Values(api.TrajectoryQuery{Run: run.ID.String(), State: c.State}))
		if err != nil {
			return err
		}
		return printTrajectories(all)
	})
}
