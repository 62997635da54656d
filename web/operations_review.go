package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"relabel"
	"relabel/api"
)

// reviewView is a review with its trajectory.
type reviewView struct {
	relabel.Review
	of trajectoryView
}

func (v *viewer) reviewOf(r *http.Request) (view reviewView, err error) {
	if view.of, err = v.findTrajectory(r); err != nil {
		return view, err
	}
	id, err := pathID(r, "review")
	if err != nil {
		return view, err
	}
	view.Review, err = v.Store.FindReview(r.Context(), view.of.ID, id)
	return view, err
}

// reviewing is an operation with the fields of a review. It suggests the flags in use in the run.
func (v *viewer) reviewing(r *http.Request, of trajectoryView, title, method, path string, chosen url.Values) (operation, error) {
	flags, err := v.flagNames(r.Context(), of.RunID)
	body, f := api.NewReview{}, form{chosen: chosen}
	err = cmp.Or(err, f.read(&body))
	return operation{Title: title, Verb: "Save", Back: turnLink(of.ID, turnOf(relabel.Review{T: body.T})), Call: call{method, "/v1" + of.Base() + path, body},
		Notes:  []string{"Lists filter by flag, and exports can exclude flagged trajectories and states."},
		Fields: f.fields(body, map[string]func(*operationField){"flag": with(flags, ""), "t": func(f *operationField) { f.Max = strconv.Itoa(of.Turns) }})}, err
}

func (v *viewer) addReview(r *http.Request, of trajectoryView, chosen url.Values) (operation, error) {
	return v.reviewing(r, of, "Review "+of.InstanceID, http.MethodPost, "/reviews", chosen)
}

func (v *viewer) editReview(r *http.Request, review reviewView, chosen url.Values) (operation, error) {
	if !chosen.Has("note") { // the form is new
		chosen = url.Values{"flag": {review.Flag}, "note": {review.Note}, "author": {review.Author}}
		if review.T != nil {
			chosen.Set("t", strconv.Itoa(*review.T))
		}
	}
	return v.reviewing(r, review.of, "Edit a review of "+review.of.InstanceID, http.MethodPut, "/reviews/"+review.ID.String(), chosen)
}

func (v *viewer) deleteReview(_ *http.Request, review reviewView, _ url.Values) (operation, error) {
	o := remove(review.of.Base()+"/reviews/"+review.ID.String(), "Delete a review of "+review.of.InstanceID, "Delete")
	o.Back = review.of.Base()
	for _, text := range []string{review.Flag, review.Note, review.Author} {
		if text != "" {
			o.Notes = append(o.Notes, text)
		}
	}
	return o, nil
}
