package client

import (
	"context"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
)

// CreateReview reviews a trajectory.
func (c *Client) CreateReview(ctx context.Context, trajectory relabel.ID, in api.NewReview) (relabel.Review, error) {
	return post[relabel.Review](ctx, c, at("trajectories", trajectory.String(), "reviews"), in)
}

// TrajectoryReviews lists a trajectory's reviews, newest first.
func (c *Client) TrajectoryReviews(ctx context.Context, trajectory relabel.ID) ([]relabel.Review, error) {
	return list[relabel.Review](ctx, c, at("trajectories", trajectory.String(), "reviews"), nil)
}

// Review returns a review.
func (c *Client) Review(ctx context.Context, trajectory, id relabel.ID) (relabel.Review, error) {
	return get[relabel.Review](ctx, c, at("trajectories", trajectory.String(), "reviews", id.String()))
}

// EditReview replaces what a review says.
func (c *Client) EditReview(ctx context.Context, trajectory, id relabel.ID, in api.NewReview) (now relabel.Review, err error) {
	return now, c.Send(ctx, http.MethodPut, at("trajectories", trajectory.String(), "reviews", id.String()), in, &now)
}

// DeleteReview deletes a review.
func (c *Client) DeleteReview(ctx context.Context, trajectory, id relabel.ID) error {
	return c.Send(ctx, http.MethodDelete, at("trajectories", trajectory.String(), "reviews", id.String()), nil, nil)
}

// Reviews lists reviews, newest first. filter takes run and flag.
func (c *Client) Reviews(ctx context.Context, filter url.Values) ([]relabel.Review, error) {
	return list[relabel.Review](ctx, c, at("reviews"), filter)
}
