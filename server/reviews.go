package server

import (
	"context"
	"net/http"

	"relabel"
)

func (s *site) addReviews() {
	add(s, operation(http.MethodPost, "/v1/trajectories/{id}/reviews", "reviews", "create-review", "Review a trajectory",
		"Adds a flag, a note, or both, about the trajectory or one of its turns."), s.createReview)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/reviews", "reviews", "list-trajectory-reviews", "List a trajectory's reviews", "What was said of it, newest first."), s.listTrajectoryReviews)
	add(s, operation(http.MethodGet, "/v1/trajectories/{id}/reviews/{review}", "reviews", "show-review", "Show a review", "One review."), s.showReview)
	add(s, operation(http.MethodPut, "/v1/trajectories/{id}/reviews/{review}", "reviews", "edit-review", "Edit a review",
		"Puts what is sent in the place of what it says; what is left out is then empty."), s.editReview)
	add(s, operation(http.MethodDelete, "/v1/trajectories/{id}/reviews/{review}", "reviews", "delete-review", "Delete a review", "Removes it. Exports that were cut before keep what they are."), s.deleteReview)
	add(s, operation(http.MethodGet, "/v1/reviews", "reviews", "list-reviews", "List reviews", "Reviews that fit the filter, newest first."), s.listReviews)
}

// NewReview is what a reviewer says.
type NewReview struct {
	T      *int   `json:"t,omitempty" minimum:"1" doc:"The turn that it is about; absent: the whole trajectory."`
	Flag   string `json:"flag,omitempty" maxLength:"60" doc:"A name of your own choice for what is wrong or remarkable, such as leak or wrong-label: a-z, 0-9, hyphen, dot and underscore. Lists and exports filter by it."`
	Note   string `json:"note,omitempty" maxLength:"10000" doc:"What there is to say."`
	Author string `json:"author,omitempty" maxLength:"100" doc:"Who says it, as others shall read it. It is not checked."`
}

func (n NewReview) of(trajectory relabel.ID) (relabel.Review, error) {
	r := relabel.Review{ID: relabel.NewID(), TrajectoryID: trajectory, T: n.T, Flag: n.Flag, Note: n.Note, Author: n.Author}
	return r, r.Validate()
}

// ReviewPath is the path of a review.
type ReviewPath struct {
	IDPath
	Review relabel.ID `path:"review" format:"uuid" doc:"Id of the review."`
}

func (s *site) createReview(ctx context.Context, in *struct {
	IDPath
	Body NewReview
}) (*of[relabel.Review], error) {
	r, err := in.Body.of(in.ID)
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
	Body NewReview
}) (*of[relabel.Review], error) {
	r, err := in.Body.of(in.ID)
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
	PageQuery
}) (*of[Page[relabel.Review]], error) {
	if _, err := s.Store.FindTrajectory(ctx, in.ID); err != nil {
		return nil, err
	}
	return pageOf(s.Store.ListReviews(ctx, relabel.ReviewFilter{TrajectoryID: &in.ID}, in.page()))
}

func (s *site) listReviews(ctx context.Context, in *struct {
	Run  optionalID `query:"run" doc:"Id or name of a run: only of its trajectories."`
	Flag string     `query:"flag" maxLength:"60" doc:"Only with this flag; *: with any."`
	PageQuery
}) (*of[Page[relabel.Review]], error) {
	return pageOf(s.Store.ListReviews(ctx, relabel.ReviewFilter{RunID: in.Run.id, Flag: in.Flag}, in.page()))
}

var reviewMeanings = map[string]string{
	"Review.id":            "Its id.",
	"Review.trajectory_id": "The trajectory that it is about.",
	"Review.run_id":        "The trajectory's run.",
	"Review.instance_id":   "The trajectory's task.",
	"Review.t":             "The turn that it is about; absent: the whole trajectory.",
	"Review.flag":          "The flag, by which lists and exports filter; absent: it is a note alone.",
	"Review.note":          "What there is to say.",
	"Review.author":        "Who said it, as given.",
	"Review.created_at":    "When it was written.",
	"Review.edited_at":     "When it was last changed; absent: never.",
}
