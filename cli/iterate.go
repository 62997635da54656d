package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// runIterate is `relabel run iterate RUN`.
type runIterate struct {
	runFlags
	api.NewIteration
	Detach bool `help:"Do not wait for the end."`
}

// Run starts the iteration and watches it. It fails if nothing of it is done at its end.
func (c *runIterate) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		if _, err := FindPolicy(ctx, cl, c.Student); err != nil {
			return err
		}
		it, err := cl.StartIteration(ctx, run.ID, c.NewIteration)
		if err != nil {
			return err
		}
		fmt.Println(it.ID)
		for _, note := range drawNotes(it) {
			say("%s", note)
		}
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

// drawNotes say what the draw of an iteration's tasks did beside drawing: its place in the permutations,
// and the tasks that it excluded.
func drawNotes(it api.IterationView) (notes []string) {
	if it.Walk != nil {
		notes = append(notes, it.Walk.Text())
	}
	if it.ReservedTasks > 0 {
		notes = append(notes, fmt.Sprintf("%d tasks were not drawn from, since the benchmarks and exclusion lists %s reserve them: --allow-benchmark NAME allows those of one", it.ReservedTasks, strings.Join(it.ReservedBy, ", ")))
	}
	if it.Weights != nil {
		notes = append(notes, "weights of "+it.Student+": "+it.Weights.Text())
	}
	return notes
}

// Validate refuses an evaluation of training tasks.
func (c *runIterate) Validate() error {
	if c.Kind == relabel.Evaluate && c.Benchmark == "" && !c.HeldOut && len(c.Instances) == 0 && c.Again == nil {
		return relabel.Errorf(relabel.CodeInvalid, "an evaluation would roll out training tasks: name a benchmark (--benchmark), give --held-out, name instances (--instance), or repeat another iteration's draw (--again ITERATION)").On("--held-out")
	}
	return nil
}

// runInstances is `relabel run instances ITERATION`.
type runInstances struct{ iterationFlags }

// Run prints the instances that an iteration rolls out, one per line.
func (c *runInstances) Run(ctx context.Context) error {
	return c.withIteration(ctx, func(cl *Session, id relabel.ID) error {
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

// watchToTheEnd waits for the iteration's end and prints its result.
func watchToTheEnd(ctx context.Context, cl *Session, run relabel.Run, it relabel.Iteration) error {
	warnWithoutWorker(ctx, cl)
	end, err := WatchIteration(ctx, cl, it.ID, fmt.Sprintf("%s, %s %d", run.Name, it.Kind, it.Number))
	if ctx.Err() != nil {
		return Interruptedf("%s %d continues %s: `relabel run show %s` shows the progress, `relabel run cancel %s` cancels it", it.Kind, it.Number, cl.elsewhere(), run.Name, it.ID)
	}
	if err != nil {
		return err
	}
	if err := PrintIterations(ctx, cl, run); err != nil {
		return err
	}
	return Outcome(end)
}

// warnWithoutWorker prints a warning if no process works. It prints nothing if the server does not answer:
// whatever waits reports that.
func warnWithoutWorker(ctx context.Context, cl *Session) {
	workers, err := cl.Workers(ctx)
	if err != nil || slices.ContainsFunc(workers, func(w relabel.Worker) bool { return w.State != relabel.WorkerSilent }) {
		return
	}
	fmt.Fprintln(os.Stderr, "No process works at present: this waits for a `relabel serve` or `relabel worker` on this database.")
}

// Outcome returns an error if an iteration was cancelled or none of its trajectories is done, so
// that a script stops.
func Outcome(it api.IterationView) error {
	_, all := counts(it.Progress)
	switch p := it.Progress.Trajectories; {
	case it.State == relabel.IterationCancelled:
		return relabel.Errorf(relabel.CodeConflict, "%s %d was cancelled; %d of its %d trajectories are done", it.Kind, it.Number, p[relabel.Done], all)
	case p[relabel.Done] == 0:
		return relabel.Errorf(relabel.CodeUnavailable, "no trajectory of %s %d is done: %d of its %d trajectories failed", it.Kind, it.Number, p[relabel.Failed], all)
	}
	return nil
}
