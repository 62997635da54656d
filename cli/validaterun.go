package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/safetext"
)

// keepValidation keeps a result as it ends.
type keepValidation func(ctx context.Context, task relabel.Task, v relabel.Validation) error

// validating validates tasks concurrently.
type validating struct {
	validate ValidateTask
	options  ValidateOptions
	jobs     int
	known    map[string]relabel.Validation // results of an earlier command, by instance id
	keep     keepValidation                // nil: nothing keeps them

	mu    sync.Mutex
	done  int
	total int
}

// all validates the tasks that are not known and returns all results by instance id. It prints a line for each.
func (w *validating) all(ctx context.Context, tasks []relabel.Task) (map[string]relabel.Validation, error) {
	found := maps.Clone(w.known)
	if found == nil {
		found = map[string]relabel.Validation{}
	}
	w.total, w.done = len(tasks), len(found)
	if w.done > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d tasks have a result already.\n", w.done, w.total)
	}
	var g errgroup.Group
	g.SetLimit(w.jobs)
	for _, task := range tasks {
		if _, is := w.known[task.InstanceID]; is {
			continue
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return w.one(ctx, task, found)
		})
	}
	err := g.Wait()
	if err != nil && ctx.Err() != nil {
		err = Interruptedf("%d of %d tasks have a result; the same command continues", w.done, w.total)
	}
	return found, err
}

// one validates a task, keeps the result and adds it to found.
func (w *validating) one(ctx context.Context, task relabel.Task, found map[string]relabel.Validation) error {
	v, err := w.validate(ctx, task, w.options)
	if err != nil {
		return err
	}
	if w.keep != nil {
		if err := w.keep(ctx, task, v); err != nil {
			return fmt.Errorf("%s: the result cannot be kept: %w", task.InstanceID, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	found[task.InstanceID] = v
	fmt.Fprintln(os.Stderr, safetext.TerminalLine(oneLine(fmt.Sprintf("[%d/%d] %s: %s, %.1f s", w.done, w.total, task.InstanceID, stateWords(v), v.Seconds()))))
	return nil
}

// stateWords is the state of a task with its problem.
func stateWords(v relabel.Validation) string {
	if v.Problem == "" {
		return string(v.State)
	}
	return string(v.State) + ": " + v.Problem
}
