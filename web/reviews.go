package web

import (
	"net/http"

	"relabel"
	"relabel/safetext"
)

const reviewsShown = 50

type reviewRow struct {
	relabel.Review
	Run        string
	Link       string // to the trajectory or its turn
	Operations []operationLink
}

type reviewListView struct {
	Reviews     []reviewRow
	Flags       []flagLink
	Run         *relabel.Run
	Flag        string
	All         string // address without the flag
	Next, First string
}

type flagLink struct {
	relabel.FlagCount
	Link   string
	Chosen bool
}

func (v *viewer) reviewRoutes() routes {
	to := routes{"GET /reviews": v.listReviews, "GET /trajectories/{id}/reviews": of(v.findTrajectory, v.showReviews)}
	v.addOperation(to, "/trajectories/{id}/reviews/new", on(v.findTrajectory, v.addReview))
	v.addOperation(to, "/trajectories/{id}/reviews/{review}/edit", on(v.reviewOf, v.editReview))
	v.addOperation(to, "/trajectories/{id}/reviews/{review}/delete", on(v.reviewOf, v.deleteReview))
	return to
}

func (v *viewer) listReviews(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	filter, view := relabel.ReviewFilter{Flag: q.Get("flag")}, reviewListView{Flag: q.Get("flag")}
	run, err := v.chosenRun(r)
	if err != nil {
		return err
	}
	if run != nil {
		filter.RunID, view.Run = &run.ID, run
	}
	list, next, err := v.Store.ListReviews(r.Context(), filter, relabel.Page{After: q.Get("after"), Limit: reviewsShown})
	if err != nil {
		return err
	}
	if view.Reviews, err = v.reviewRows(r, list); err != nil {
		return err
	}
	to := listAddress{"/reviews", q}
	flags, err := v.Store.ListFlags(r.Context(), filter.RunID)
	if err != nil {
		return err
	}
	for _, f := range flags {
		view.Flags = append(view.Flags, flagLink{f, to.with("flag", f.Flag), f.Flag == view.Flag})
	}
	view.All = to.with("flag", "")
	view.Next, view.First = pageLinks(r, next)
	p := page{Template: "reviews", Title: "Reviews", Section: "Reviews", Scripts: []string{"reviews.js"}, View: view}
	if view.Run != nil {
		p.Crumbs = []crumb{home, runCrumb(*view.Run)}
	}
	return v.render(w, r, p)
}

func (v *viewer) reviewRows(r *http.Request, list []relabel.Review) ([]reviewRow, error) {
	l, runName, rows := load{ctx: r.Context()}, remember(v.runName), make([]reviewRow, len(list))
	for i, review := range list {
		rows[i] = reviewRow{Review: review, Link: turnLink(review.TrajectoryID, turnOf(review))}
		read(&l, &rows[i].Run, runName, review.RunID)
		if mayChange(r) {
			path := trajectoryPath(review.TrajectoryID) + "/reviews/" + review.ID.String()
			rows[i].Operations = []operationLink{{"Edit…", path + "/edit"}, {"Delete…", path + "/delete"}}
		}
	}
	return rows, l.err
}

// turnOf is the turn that a review is about, 0 if it is about the whole trajectory.
func turnOf(review relabel.Review) int {
	if review.T == nil {
		return 0
	}
	return *review.T
}

// reviewsView is the newest reviews of one trajectory.
type reviewsView struct {
	Trajectory relabel.ID
	Reviews    []reviewRow
	More       bool // than are shown
	Operations []operationLink
}

// reviewsOf finds the newest reviews of a trajectory.
func (v *viewer) reviewsOf(r *http.Request, trajectory relabel.ID) (view reviewsView, err error) {
	view.Trajectory = trajectory
	list, next, err := v.Store.ListReviews(r.Context(), relabel.ReviewFilter{TrajectoryID: &trajectory}, relabel.Page{Limit: reviewsShown})
	if err != nil {
		return view, err
	}
	view.More = next != ""
	if mayChange(r) {
		view.Operations = []operationLink{{"Flag or note…", trajectoryPath(trajectory) + "/reviews/new"}}
	}
	view.Reviews, err = v.reviewRows(r, list)
	return view, err
}

func (v *viewer) showReviews(w http.ResponseWriter, r *http.Request, of trajectoryView) error {
	view, err := v.reviewsOf(r, of.ID)
	if err != nil {
		return err
	}
	return v.render(w, r, page{Template: "trajectory-reviews", Title: "Reviews of " + safetext.Plain(of.InstanceID), Section: "Reviews", Crumbs: of.crumbsBelow(),
		Keys: []shortcut{{"f", "flag or note"}}, Scripts: []string{"reviews.js"}, View: view})
}
