package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"relabel"
	"relabel/api"
)

// quota formats a quota; "" for none.
func quota(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// paused formats the reason of a pause; "" for none.
func paused(p *relabel.Pause) string {
	if p == nil {
		return ""
	}
	return strings.TrimSuffix(string(p.Reason)+": "+p.Text, ": ")
}

// runSet is `relabel run set RUN`.
type runSet struct {
	runFlags
	api.SchedulingPatch
	noticeFlags
}

// Run changes what is given.
func (c *runSet) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		body := c.SchedulingPatch
		body.Budget, body.Webhook = c.over(run)
		now, err := cl.SetScheduling(ctx, run.ID, body)
		if err != nil {
			return err
		}
		say("%s", settings(now))
		return nil
	})
}

// settings describes in one line what `run set` can change.
func settings(r relabel.Run) string {
	text := fmt.Sprintf("%s: priority %d, quota %s, budget %s", r.Name, r.Priority, cmp.Or(quota(r.Quota), "none"), cmp.Or(shownBudget(r.Budget), "none"))
	if w := r.Webhook; w != nil {
		text += ", webhook " + w.URL
		if w.Secret != "" {
			text += " (signed with " + w.Secret + ")"
		}
	}
	return text
}

// target is a run or an iteration on the command line.
type target struct {
	ClientFlags
	Target string `arg:"" name:"run|iteration" help:"Name or id of a run, or id of an iteration."`
}

// operation is what can be done with a run and with an iteration.
type operation struct {
	run       func(*Session, context.Context, relabel.ID) (relabel.Run, error)
	iteration func(*Session, context.Context, relabel.ID) (api.IterationView, error)
}

// find returns the iteration with the given id, or else the run.
func (c target) find(ctx context.Context, cl *Session) (run relabel.Run, it *api.IterationView, err error) {
	if id, err := relabel.ParseID("iteration", c.Target); err == nil {
		found, err := cl.Iteration(ctx, id)
		if relabel.CodeOf(err) != relabel.CodeNotFound {
			return run, &found, err
		}
	}
	run, err = findRun(ctx, cl, c.Target)
	return run, nil, err
}

// do does something with the target and prints its new state.
func (c target) do(ctx context.Context, what operation) error {
	return c.With(ctx, func(cl *Session) error {
		run, iteration, err := c.find(ctx, cl)
		if err != nil {
			return err
		}
		if iteration != nil {
			it, err := what.iteration(cl, ctx, iteration.ID)
			if err == nil {
				say("%s %d: %s %s", it.Kind, it.Number, it.State, shownPause(it.Paused))
			}
			return err
		}
		now, err := what.run(cl, ctx, run.ID)
		if err != nil {
			return err
		}
		if now.Paused != nil {
			say("%s: %s", now.Name, shownPause(now.Paused))
			return nil
		}
		return PrintIterations(ctx, cl, now)
	})
}

func shownPause(p *relabel.Pause) string {
	if p == nil {
		return ""
	}
	return "paused (" + paused(p) + ")"
}

// runPause is `relabel run pause RUN|ITERATION`.
type runPause struct {
	target
	api.NewPause
}

// Run pauses it.
func (c *runPause) Run(ctx context.Context) error {
	return c.do(ctx, operation{
		func(s *Session, ctx context.Context, id relabel.ID) (relabel.Run, error) {
			return s.PauseRun(ctx, id, c.NewPause)
		},
		func(s *Session, ctx context.Context, id relabel.ID) (api.IterationView, error) {
			return s.PauseIteration(ctx, id, c.NewPause)
		},
	})
}

// runResume is `relabel run resume RUN|ITERATION`.
type runResume struct {
	target
	api.NewResume
}

// Run ends the pause.
func (c *runResume) Run(ctx context.Context) error {
	return c.do(ctx, operation{
		func(s *Session, ctx context.Context, id relabel.ID) (relabel.Run, error) {
			return s.ResumeRun(ctx, id, c.NewResume)
		},
		func(s *Session, ctx context.Context, id relabel.ID) (api.IterationView, error) {
			return s.ResumeIteration(ctx, id, c.NewResume)
		},
	})
}

// runCancel is `relabel run cancel RUN|ITERATION`.
type runCancel struct{ target }

// Run cancels it.
func (c *runCancel) Run(ctx context.Context) error {
	return c.do(ctx, operation{(*Session).CancelRun, (*Session).CancelIteration})
}

// iterationFlags name an iteration.
type iterationFlags struct {
	ClientFlags
	Iteration string `arg:"" help:"Id of the iteration; run show lists it."`
}

// withIteration opens a session and calls use with the id.
func (f iterationFlags) withIteration(ctx context.Context, use func(*Session, relabel.ID) error) error {
	return f.With(ctx, func(cl *Session) error {
		id, err := idOf("iteration", "<iteration>", f.Iteration, "run show RUN")
		if err != nil {
			return err
		}
		return use(cl, id)
	})
}

// runRetry is `relabel run retry ITERATION`.
type runRetry struct {
	iterationFlags
	api.Retry
}

// Run queues failed trajectories again.
func (c *runRetry) Run(ctx context.Context) error {
	return c.withIteration(ctx, func(cl *Session, id relabel.ID) error {
		done, err := cl.RetryIteration(ctx, id, c.Retry)
		if err != nil {
			return err
		}
		fmt.Printf("%d queued again\n", done.Retried)
		return nil
	})
}

// WorkerList is `relabel worker list`.
type WorkerList struct{ ClientFlags }

// Run prints the workers.
func (c *WorkerList) Run(ctx context.Context) error {
	heads := []string{"MACHINE", "PROCESS", "STATE", "HOLDS", "ROLLOUTS", "PREFETCH", "SEARCHES", "DOCKER", "SEEN", "NAME"}
	return list(ctx, c.ClientFlags, (*Session).Workers, heads, func(w relabel.Worker) []any {
		return []any{w.Machine, w.Process, w.State, w.Held, w.Rollouts, w.Prefetch, w.Searches, strings.Join(w.DockerHosts, " "), w.SeenAt, w.Name}
	})
}
