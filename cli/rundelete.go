package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/docker/go-units"

	"relabel"
)

// runDelete is `relabel run delete RUN`.
type runDelete struct {
	runFlags
	Yes bool `help:"Delete it. Without this flag the command only shows what would be deleted."`
}

// Run prints the contents of the run, and deletes it.
func (c *runDelete) Run(ctx context.Context) error {
	return c.withRun(ctx, func(cl *Session, run relabel.Run) error {
		had, err := cl.RunContents(ctx, run.ID)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d iterations, %d trajectories, %d turns, about %d calls, %d reviews, %d exports, about %s\n", oneLine(run.Name), had.Iterations, had.Trajectories, had.Turns, had.Calls, had.Reviews, had.Exports, units.BytesSize(float64(had.Bytes)))
		fmt.Println("Files that exports wrote stay, and so do the task set and the policies.")
		if had.Exports > 0 {
			fmt.Println("To remove the files too, run `relabel export delete ID` for each of its exports first.")
		}
		if had.Refused != "" {
			return relabel.Errorf(relabel.CodeConflict, "the run cannot be deleted: %s", had.Refused)
		}
		if !c.Yes {
			fmt.Println("Nothing was deleted. Add --yes to delete the run for good.")
			return nil
		}
		if _, err := cl.DeleteRun(ctx, run.ID); err != nil {
			return err
		}
		return c.follow(ctx, cl, run)
	})
}

// deletionPeriod is the time between two looks at a run that is being deleted.
const deletionPeriod = time.Second

// follow waits until the server has deleted the run.
func (c *runDelete) follow(ctx context.Context, cl *Session, run relabel.Run) error {
	fmt.Println("The run is deleted in the background, by the server or by the next one that starts.")
	return poll(ctx, deletionPeriod, func() (bool, error) {
		left, err := cl.RunContents(ctx, run.ID)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			fmt.Println("Deleted.")
			return true, nil
		}
		if err == nil {
			fmt.Printf("%d trajectories left\n", left.Trajectories)
		}
		return false, err
	})
}
