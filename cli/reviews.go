package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// ReviewCommand is `relabel review`.
type ReviewCommand struct {
	Add    reviewAdd    `cmd:"" help:"Flag a trajectory or one of its turns, or add a note to it."`
	List   reviewList   `cmd:"" help:"List reviews, newest first."`
	Delete reviewDelete `cmd:"" help:"Remove a review."`
}

// reviewAdd is `relabel review add TRAJECTORY`.
type reviewAdd struct {
	ClientFlags
	Trajectory string `arg:"" help:"Id of the trajectory; run trajectories lists it."`
	api.NewReview
}

// Run stores the review.
func (c *reviewAdd) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		id, err := relabel.ParseID("trajectory", c.Trajectory)
		if err != nil {
			return err
		}
		r, err := cl.CreateReview(ctx, id, c.NewReview)
		if err != nil {
			return err
		}
		fmt.Println(r.ID)
		return nil
	})
}

// reviewList is `relabel review list`.
type reviewList struct {
	ClientFlags
	api.ReviewQuery
}

// Run prints the reviews.
func (c *reviewList) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if err := mustExist(ctx, cl, c.ReviewQuery.Run); err != nil {
			return err
		}
		all, err := cl.Reviews(ctx, client.Values(c.ReviewQuery))
		if err != nil {
			return err
		}
		heads := []string{"ID", "TRAJECTORY", "INSTANCE", "TURN", "FLAG", "BY", "AT", "NOTE"}
		return printTable(all, heads, func(r relabel.Review) []any {
			turn := "all"
			if r.T != nil {
				turn = fmt.Sprint(*r.T)
			}
			return []any{r.ID, r.TrajectoryID, r.InstanceID, turn, r.Flag, r.Author, r.CreatedAt, r.Note}
		})
	})
}

// reviewDelete is `relabel review delete TRAJECTORY REVIEW`.
type reviewDelete struct {
	ClientFlags
	Trajectory string `arg:"" help:"Id of the trajectory."`
	Review     string `arg:"" help:"Id of the review; review list shows it."`
}

// Run removes the review.
func (c *reviewDelete) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		trajectory, err := relabel.ParseID("trajectory", c.Trajectory)
		if err != nil {
			return err
		}
		review, err := relabel.ParseID("review", c.Review)
		if err != nil {
			return err
		}
		return cl.DeleteReview(ctx, trajectory, review)
	})
}
