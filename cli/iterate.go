package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// runIterate is `relabel run iterate RUN`.
type runIterate struct {
	ClientFlags
	RunName     string   `arg:"" name:"run" help:"Name or id of the run."`
	Student     string   `required:"" placeholder:"POLICY" help:"Name (its newest version), name@version or id of this round's student policy."`
	Kind        string   `default:"collect" enum:"collect,evaluate" help:"${enum}."`
	Beta        *float64 `help:"βi instead of the schedule's."`
	Count       *int     `name:"count" placeholder:"N" help:"Roll out N tasks, drawn with the run's seed: another subset in each iteration. Default: all."`
	Instance    []string `help:"Exactly these instances."`
	HeldOut     bool     `help:"Evaluate on the held-out tasks. An evaluation needs --held-out, --instance or --again."`
	Again       string   `placeholder:"ITERATION" help:"Exactly the tasks of this iteration (its id), of any run of the same task set."`
	Generations *int     `placeholder:"N" help:"Rollouts a task. Default: those of --again, else 1."`
	Detach      bool     `help:"Do not wait for the end."`
}

// Run starts the iteration and watches it. It fails where nothing of it is done at its end.
func (c *runIterate) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		run, err := findRun(ctx, cl, c.RunName)
		if err != nil {
			return err
		}
		student, err := FindPolicy(ctx, cl, c.Student)
		if err != nil {
			return err
		}
		body, err := c.body(student)
		if err != nil {
			return err
		}
		it, err := cl.StartIteration(ctx, run.ID, body)
		if err != nil {
			return err
		}
		fmt.Println(it.ID)
		if c.Detach {
			return nil
		}
		if cl.local != nil && cl.local.OwnPostgres {
			fmt.Println("No server runs here: `relabel serve` will roll it out.")
			return nil
		}
		return watchToTheEnd(ctx, cl, run, it.Iteration)
	})
}

// Validate refuses numbers that REST would take for the default.
func (c *runIterate) Validate() error {
	switch {
	case c.Count != nil && *c.Count < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; at least one task is rolled out", *c.Count).On("--count")
	case c.Generations != nil && *c.Generations < 1:
		return relabel.Errorf(relabel.CodeInvalid, "is %d; a task is rolled out at least once", *c.Generations).On("--generations")
	case c.Kind == string(relabel.Evaluate) && !c.HeldOut && len(c.Instance) == 0 && c.Again == "":
		return relabel.Errorf(relabel.CodeInvalid, "an evaluation would roll out training tasks: give --held-out, name instances (--instance), or repeat another iteration's draw (--again ITERATION)").On("--held-out")
	}
	return nil
}

// body is the iteration as POST /v1/runs/{id}/iterations takes it. What is not given is
// absent.
func (c *runIterate) body(student relabel.Policy) (api.NewIteration, error) {
	body := api.NewIteration{Student: student.ID.String(), Kind: relabel.IterationKind(c.Kind), Beta: c.Beta, Instances: c.Instance, HeldOut: c.HeldOut}
	if c.Count != nil {
		body.Tasks = *c.Count
	}
	if c.Generations != nil {
		body.Generations = *c.Generations
	}
	if c.Again == "" {
		return body, nil
	}
	id, err := IterationID(c.Again)
	body.Again = &id
	return body, err
}

// runInstances is `relabel run instances ITERATION`.
type runInstances struct {
	ClientFlags
	Iteration string `arg:"" help:"Id of the iteration."`
}

// Run prints the instances that an iteration rolls out, one per line.
func (c *runInstances) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		id, err := IterationID(c.Iteration)
		if err != nil {
			return err
		}
		draw, err := cl.Draw(ctx, id)
		if err != nil {
			return err
		}
		for _, instance := range draw.Instances {
			fmt.Println(safetext.TerminalLine(instance))
		}
		return nil
	})
}

// watchToTheEnd waits for the iteration's end and says what came of it.
func watchToTheEnd(ctx context.Context, cl *Session, run relabel.Run, it relabel.Iteration) error {
	sayIfNobodyWorks(ctx, cl)
	end, err := WatchIteration(ctx, cl, it.ID, fmt.Sprintf("%s, %s %d", run.Name, it.Kind, it.Number))
	if ctx.Err() != nil {
		return Interruptedf("%s %d goes on %s: `relabel run show %s` says how far it is, `relabel run cancel %s` cancels it", it.Kind, it.Number, cl.elsewhere(), run.Name, it.ID)
	}
	if err != nil {
		return err
	}
	if err := PrintIterations(ctx, cl, run); err != nil {
		return err
	}
	return Outcome(end)
}

// sayIfNobodyWorks tells who waits for rollouts, labels or an export that nobody is at it. What cannot be asked now is
// not said: the watch itself waits for a server that is away.
func sayIfNobodyWorks(ctx context.Context, cl *Session) {
	workers, err := cl.Workers(ctx)
	if err != nil || slices.ContainsFunc(workers, func(w relabel.Worker) bool { return w.State != relabel.WorkerSilent }) {
		return
	}
	fmt.Fprintln(os.Stderr, "No process works at present: this waits for a `relabel serve` or `relabel worker` on this database.")
}

// Outcome is an error where an iteration came to its end and left nothing, so that a
// script does not go on with that.
func Outcome(it api.IterationView) error {
	_, all := counts(it.Progress)
	switch p := it.Progress.Trajectories; {
	case it.State == relabel.IterationCancelled:
		return relabel.Errorf(relabel.CodeConflict, "%s %d was cancelled; %d of its %d trajectories are done", it.Kind, it.Number, p[relabel.Done], all)
	case p[relabel.Done] == 0:
		return relabel.Errorf(relabel.CodeUnavailable, "nothing of %s %d is done: %d of its %d trajectories failed", it.Kind, it.Number, p[relabel.Failed], all)
	}
	return nil
}
