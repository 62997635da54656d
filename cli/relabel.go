package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
)

// runLabel is `relabel run label ITERATION`.
type runLabel struct{ iterationFlags }

// Run begins the iteration's labelling.
func (c *runLabel) Run(ctx context.Context) error {
	return c.withIteration(ctx, func(cl *Session, id relabel.ID) error {
		it, err := cl.LabelIteration(ctx, id)
		if err != nil {
			return err
		}
		fmt.Printf("%s %d: %d labels are pending\n", it.Kind, it.Number, it.Progress.LabelsPending)
		return nil
	})
}

// runRelabel is `relabel run relabel RUN|ITERATION`.
type runRelabel struct {
	target
	api.NewRelabeling
	Cancel bool `help:"Cancel these relabelings instead; stored answers are kept."`
	Detach bool `help:"Do not wait for the end."`
}

// Run requests the relabelings and watches them.
func (c *runRelabel) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		teacher, err := FindPolicy(ctx, cl, c.Policy)
		if err != nil {
			return err
		}
		iterations, err := c.iterations(ctx, cl)
		if err != nil {
			return err
		}
		if c.Cancel {
			return c.cancel(ctx, cl, teacher, iterations)
		}
		asked := iterations[:0:0]
		for _, id := range iterations {
			_, err := cl.RelabelIteration(ctx, id, api.NewRelabeling{Policy: teacher.ID.String(), Priority: c.Priority})
			switch {
			case relabel.CodeOf(err) == relabel.CodeConflict && len(iterations) > 1:
				continue // no trajectory of it is done yet
			case err != nil:
				return err
			}
			asked = append(asked, id)
		}
		if len(asked) == 0 {
			return relabel.Errorf(relabel.CodeConflict, "no trajectory of %s is done", c.Target)
		}
		return c.watch(ctx, cl, teacher, asked)
	})
}

// iterations returns the given iteration, or the collect iterations of the run.
func (c *runRelabel) iterations(ctx context.Context, cl *Session) ([]relabel.ID, error) {
	run, it, err := c.find(ctx, cl)
	if err != nil {
		return nil, err
	}
	if it != nil {
		return []relabel.ID{it.ID}, nil
	}
	all, err := cl.Iterations(ctx, run.ID)
	var ids []relabel.ID
	for _, it := range all {
		if it.Kind == relabel.Collect {
			ids = append(ids, it.ID)
		}
	}
	if err == nil && len(ids) == 0 {
		err = relabel.Errorf(relabel.CodeConflict, "%s has no collect iteration", run.Name)
	}
	return ids, err
}

func (c *runRelabel) cancel(ctx context.Context, cl *Session, teacher relabel.Policy, iterations []relabel.ID) error {
	sum := 0
	for _, id := range iterations {
		one, err := cl.CancelRelabelings(ctx, id, api.CancelRelabelings{Policy: teacher.ID.String()})
		if err != nil {
			return err
		}
		sum += one.Cancelled
	}
	fmt.Printf("%d relabelings are cancelled\n", sum)
	return nil
}

// watch waits until the relabelings of one policy are over, and prints the result.
func (c *runRelabel) watch(ctx context.Context, cl *Session, teacher relabel.Policy, iterations []relabel.ID) error {
	var sum relabel.RelabelProgress
	over, err := cl.watchWork(ctx, "relabelling", c.Detach, func() (line string, over bool, err error) {
		sum, err = c.progress(ctx, cl, teacher, iterations)
		line = fmt.Sprintf("%s@%d: %d of %d states answered, %d missing, %d pending", teacher.Name, teacher.Version, sum.Received, sum.Turns, sum.Missing, sum.Pending)
		return line, sum.Relabelings[relabel.RelabelQueued]+sum.Relabelings[relabel.RelabelRunning] == 0, err
	})
	if err != nil || !over {
		return err
	}
	if sum.Compared > 0 {
		fmt.Printf("agrees with the first label at %d of %d states\n", sum.Agreed, sum.Compared)
	}
	return relabelled(sum, teacher)
}

// relabelled returns an error if relabelings failed or were cancelled, or if no state has an answer.
func relabelled(sum relabel.RelabelProgress, teacher relabel.Policy) error {
	if n := sum.Relabelings[relabel.RelabelFailed]; n > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "%d relabelings failed: GET /v1/relabelings?state=failed shows why", n)
	}
	if n := sum.Relabelings[relabel.RelabelCancelled]; n > 0 {
		return relabel.Errorf(relabel.CodeConflict, "%d relabelings were cancelled", n)
	}
	if sum.Received == 0 && sum.Missing > 0 {
		return relabel.Errorf(relabel.CodeUnavailable, "the policy answered none of the states; `relabel doctor --policy %s@%d` tests its endpoint", teacher.Name, teacher.Version)
	}
	return nil
}

// progress sums up the relabelings of one policy.
func (c *runRelabel) progress(ctx context.Context, cl *Session, teacher relabel.Policy, iterations []relabel.ID) (relabel.RelabelProgress, error) {
	sum := relabel.RelabelProgress{PolicyID: teacher.ID, Relabelings: map[relabel.RelabelState]int{}}
	for _, id := range iterations {
		of, err := cl.RelabelProgress(ctx, id)
		if err != nil {
			return sum, err
		}
		for _, p := range of.Items {
			if p.PolicyID == teacher.ID {
				sum.Add(p)
			}
		}
	}
	return sum, nil
}
