package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// reviewsShown is how many reviews a page lists.
const reviewsShown = 50

// reviewRow is a review in a list.
type reviewRow struct {
	relabel.Review
	Run        string
	Link       string // to the trajectory or its turn
	Operations []operationLink
}

// reviewListView is a page of reviews.
type reviewListView struct {
	Reviews     []reviewRow
	Flags       []flagLink
	Run         *relabel.Run
	Flag        string
	All         string // address without the flag
	Next, First string
}

// flagLink is a flag in use, by which a list is filtered.
type flagLink struct {
	relabel.FlagCount
	Link   string
	Chosen bool
}

func (v *viewer) reviewRoutes() routes {
	to := routes{"GET /reviews": v.listReviews, "GET /trajectories/{id}/reviews": v.showReviews}
	v.addOperation(to, "/trajectories/{id}/reviews/new", v.addReview)
	v.addOperation(to, "/trajectories/{id}/reviews/{review}/edit", v.editReview)
	v.addOperation(to, "/trajectories/{id}/reviews/{review}/delete", v.deleteReview)
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
	flags, err := v.Store.ListFlags(r.Context(), filter.RunID)
	if err != nil {
		return err
	}
	for _, f := range flags {
		view.Flags = append(view.Flags, flagLink{f, reviewsAddress(q.Get("run"), f.Flag), f.Flag == view.Flag})
	}
	view.All = reviewsAddress(q.Get("run"), "")
	view.Next, view.First = pageLinks(r, next)
	p := page{Template: "reviews", Title: "Reviews", Section: "Reviews", Scripts: []string{"reviews.js"}, View: view}
	if view.Run != nil {
		p.Crumbs = []crumb{{"Home", "/"}, runCrumb(*view.Run)}
	}
	return v.render(w, r, p)
}

// chosenRun is the run that an address names (?run=), nil where it names none.
func (v *viewer) chosenRun(r *http.Request) (*relabel.Run, error) {
	word := r.URL.Query().Get("run")
	if word == "" {
		return nil, nil
	}
	id, err := v.runID(r.Context(), word)
	if err != nil {
		return nil, unknownName(err, "run")
	}
	run, err := v.Store.FindRun(r.Context(), id)
	return &run, err
}

func reviewsAddress(run, flag string) string {
	q := url.Values{}
	for name, value := range map[string]string{"run": run, "flag": flag} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return strings.TrimSuffix("/reviews?"+q.Encode(), "?")
}

// reviewRows shows reviews, each run's name asked for once.
func (v *viewer) reviewRows(r *http.Request, list []relabel.Review) ([]reviewRow, error) {
	names, rows := map[relabel.ID]string{}, make([]reviewRow, len(list))
	for i, review := range list {
		if _, known := names[review.RunID]; !known {
			run, err := v.Store.FindRun(r.Context(), review.RunID)
			if err != nil {
				return nil, err
			}
			names[review.RunID] = run.Name
		}
		rows[i] = reviewRow{Review: review, Run: names[review.RunID], Link: "/trajectories/" + review.TrajectoryID.String()}
		if review.T != nil {
			rows[i].Link += fmt.Sprintf("#t%d", *review.T)
		}
		if mayChange(r) {
			path := fmt.Sprintf("/trajectories/%s/reviews/%s", review.TrajectoryID, review.ID)
			rows[i].Operations = []operationLink{{"Edit…", path + "/edit"}, {"Delete…", path + "/delete"}}
		}
	}
	return rows, nil
}

// reviewsView is what was said of one trajectory.
type reviewsView struct {
	Trajectory relabel.ID
	Reviews    []reviewRow
	More       bool // than are shown
	Operations []operationLink
}

// reviewsOf finds what was said of a trajectory, for its page.
func (v *viewer) reviewsOf(r *http.Request, trajectory relabel.ID) (view reviewsView, err error) {
	view.Trajectory = trajectory
	list, next, err := v.Store.ListReviews(r.Context(), relabel.ReviewFilter{TrajectoryID: &trajectory}, relabel.Page{Limit: reviewsShown})
	if err != nil {
		return view, err
	}
	view.More = next != ""
	if mayChange(r) {
		view.Operations = []operationLink{{"Flag or note…", "/trajectories/" + trajectory.String() + "/reviews/new"}}
	}
	view.Reviews, err = v.reviewRows(r, list)
	return view, err
}

func (v *viewer) showReviews(w http.ResponseWriter, r *http.Request) error {
	of, err := v.findTrajectory(r)
	if err != nil {
		return err
	}
	view, err := v.reviewsOf(r, of.ID)
	if err != nil {
		return err
	}
	return v.render(w, r, page{Template: "trajectory-reviews", Title: "Reviews of " + safetext.Plain(of.InstanceID), Section: "Reviews", Crumbs: of.crumbsBelow(),
		Keys: []shortcut{{"f", "flag or note"}}, Scripts: []string{"reviews.js"}, View: view})
}

// reviewOperation is an operation with the fields of a review. It suggests the flags in use in
// the run.
func (v *viewer) reviewOperation(r *http.Request, trajectory relabel.Trajectory, chosen url.Values) (operation, error) {
	inUse, err := v.Store.ListFlags(r.Context(), &trajectory.RunID)
	if err != nil {
		return operation{}, err
	}
	var flags []string
	for _, f := range inUse {
		flags = append(flags, f.Flag)
	}
	body, f := api.NewReview{}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	path := "/trajectories/" + trajectory.ID.String()
	o := operation{Verb: "Save", Back: path, Call: call{Path: "/v1" + path + "/reviews", Body: body},
		Notes:  []string{"Lists filter by flag, and exports can exclude flagged trajectories and states."},
		Fields: f.fields(body, map[string]func(*operationField){"flag": with(flags, ""), "t": func(f *operationField) { f.Max = strconv.Itoa(trajectory.Turns) }})}
	if body.T != nil {
		o.Back += fmt.Sprintf("#t%d", *body.T)
	}
	return o, nil
}

func (v *viewer) addReview(r *http.Request, chosen url.Values) (operation, error) {
	of, err := v.findTrajectory(r)
	if err != nil {
		return operation{}, err
	}
	o, err := v.reviewOperation(r, of.Trajectory, chosen)
	o.Title, o.Call.Method = "Review "+of.InstanceID, http.MethodPost
	return o, err
}

// reviewAt finds the review in an address, and its trajectory.
func (v *viewer) reviewAt(r *http.Request) (of trajectoryView, review relabel.Review, err error) {
	if of, err = v.findTrajectory(r); err != nil {
		return of, review, err
	}
	id, err := relabel.ParseID("review", r.PathValue("review"))
	if err != nil {
		return of, review, relabel.Errorf(relabel.CodeNotFound, "Page not found.").Because(err)
	}
	review, err = v.Store.FindReview(r.Context(), of.ID, id)
	return of, review, err
}

func (v *viewer) editReview(r *http.Request, chosen url.Values) (operation, error) {
	of, review, err := v.reviewAt(r)
	if err != nil {
		return operation{}, err
	}
	if !chosen.Has("note") { // the form is new
		chosen = url.Values{"flag": {review.Flag}, "note": {review.Note}, "author": {review.Author}}
		if review.T != nil {
			chosen.Set("t", strconv.Itoa(*review.T))
		}
	}
	o, err := v.reviewOperation(r, of.Trajectory, chosen)
	o.Title, o.Call.Method = "Edit a review of "+of.InstanceID, http.MethodPut
	o.Call.Path += "/" + review.ID.String()
	return o, err
}

func (v *viewer) deleteReview(r *http.Request, _ url.Values) (operation, error) {
	of, review, err := v.reviewAt(r)
	if err != nil {
		return operation{}, err
	}
	path := "/trajectories/" + of.ID.String()
	d := operation{Title: "Delete a review of " + of.InstanceID, Verb: "Delete", Grave: true, Back: path, Call: call{http.MethodDelete, "/v1" + path + "/reviews/" + review.ID.String(), nil}}
	for _, text := range []string{review.Flag, review.Note, review.Author} {
		if text != "" {
			d.Notes = append(d.Notes, text)
		}
	}
	return d, nil
}
