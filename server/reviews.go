package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addReviews() {
	add(s, operation(http.MethodPost, "/v1/trajectories/{id}/reviews", "reviews", "create-review", "Review a trajectory",
		"Adds a flag, a note, or both, about the trajectory or one of its turns."), s.createReview)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/reviews", "reviews", "list-trajectory-reviews", "List a trajectory's reviews", "Its reviews, newest first."), s.listTrajectoryReviews)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/reviews/{review}", "reviews", "show-review", "Show a review", "One review."), s.showReview)
	add(s, operation(http.MethodPut, "/v1/trajectories/{id}/reviews/{review}", "reviews", "edit-review", "Edit a review",
		"Replaces its contents; omitted fields become empty."), s.editReview)
	add(s, operation(http.MethodDelete, "/v1/trajectories/{id}/reviews/{review}", "reviews", "delete-review", "Delete a review", "Deletes it. Existing exports do not change."), s.deleteReview)
	add(s, operation(http.MethodGet, "/v1/reviews", "reviews", "list-reviews", "List reviews", "Matching reviews, newest first."), s.listReviews)
}

// ReviewPath is the path of a review.
type ReviewPath struct {
	IDPath
	Review relabel.ID `path:"review" format:"uuid" doc:"Id of the review."`
}

func (s *site) createReview(ctx context.Context, in *struct {
	IDPath
	Body api.NewReview
}) (*of[relabel.Review], error) {
	r, err := in.Body.Of(in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.Store.CreateReview(ctx, r); err != nil {
		return nil, err
	}
	return one(s.Store.FindReview(ctx, in.ID, r.ID))
}

func (s *site) editReview(ctx context.Context, in *struct {
	ReviewPath
	Body api.NewReview
}) (*of[relabel.Review], error) {
	r, err := in.Body.Of(in.ID)
	if err != nil {
		return nil, err
	}
	r.ID = in.Review
	return one(s.Store.EditReview(ctx, r))
}

func (s *site) showReview(ctx context.Context, in *ReviewPath) (*of[relabel.Review], error) {
	return one(s.Store.FindReview(ctx, in.ID, in.Review))
}

func (s *site) deleteReview(ctx context.Context, in *ReviewPath) (*struct{}, error) {
	return nil, s.Store.DeleteReview(ctx, in.ID, in.Review)
}

func (s *site) listTrajectoryReviews(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.Review]], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	return pageOf(s.Store.ListReviews(ctx, relabel.ReviewFilter{TrajectoryID: &in.ID}, page(in.PageQuery)))
}

func (s *site) listReviews(ctx context.Context, in *struct {
	api.ReviewQuery
	api.PageQuery
}) (*of[api.Page[relabel.Review]], error) {
	q := &queryReader{}
	filter := relabel.ReviewFilter{RunID: q.id("run", in.Run), Flag: in.Flag}
	if q.err != nil {
		return nil, q.err
	}
	return pageOf(s.Store.ListReviews(ctx, filter, page(in.PageQuery)))
}
