package web

import (
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/safetext"
)

// imagesShown is the number of images on a page.
const imagesShown = 100

// imageList is the page of the images that the tasks of a task set need.
type imageList struct {
	Set         relabel.Taskset
	Sums        relabel.ImageSums
	Needs       []relabel.ImageNeed
	State       relabel.ImageState
	States      []relabel.ImageState
	Operations  []operationLink
	Next, First string
}

func (v *viewer) listImages(w http.ResponseWriter, r *http.Request, set relabel.Taskset) error {
	q := r.URL.Query()
	list := imageList{Set: set, State: relabel.ImageState(q.Get("state")), States: relabel.ImageStates}
	if list.State != "" && !slices.Contains(relabel.ImageStates, list.State) {
		return relabel.Errorf(relabel.CodeInvalid, "%.100q is not the state of an image", safetext.Plain(q.Get("state"))).On("state")
	}
	var err error
	if list.Sums, err = v.Store.SumTasksetImages(r.Context(), set.ID); err != nil {
		return err
	}
	var next string
	list.Needs, next, err = v.Store.ListTasksetImages(r.Context(), set.ID, list.State, relabel.Page{After: q.Get("after"), Limit: imagesShown})
	if err != nil {
		return err
	}
	list.Next, list.First = pageLinks(r, next)
	if mayChange(r) && list.Sums.Images > 0 {
		list.Operations = []operationLink{{"Check the images…", imagesPath(set.ID) + "/check"}}
	}
	return v.render(w, r, page{Template: "images", Title: "Images of " + safetext.Plain(set.Name), Section: "Tasks", Crumbs: tasksetCrumbs(set), View: list})
}

func imagesPath(taskset relabel.ID) string { return "/tasks/" + taskset.String() + "/images" }

func (v *viewer) checkImages(_ *http.Request, set relabel.Taskset, _ url.Values) (operation, error) {
	return operation{Title: "Check the images of " + set.Name, Verb: "Check", Back: imagesPath(set.ID),
		Call:  call{http.MethodPost, "/v1/tasksets/" + set.ID.String() + "/images/check", nil},
		Notes: []string{"A worker looks for each image on its Docker engines, else in its registry. No image is pulled."}}, nil
}
