package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addImages() {
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/images", "tasksets", "list-images", "List the images of a taskset",
		"The images that its tasks need, in the order of their names, each with the result of the last check."), s.listImages)
	add(s, operation(http.MethodGet, "/v1/tasksets/{id}/images/summary", "tasksets", "sum-images", "Sum the images of a taskset",
		"How many images its tasks need, how many of them exist, and their size, with layers that images share counted once."), s.sumImages)
	add(s, action("/v1/tasksets/{id}/images/check", "tasksets", "check-images", "Check the images of a taskset",
		"Asks workers to look for each image on their engines and else in its registry, also if it was checked before, and returns the sums. "+
			"Workers need seconds; the summary counts the pending checks. No image is pulled."), s.checkImages)
}

func (s *site) listImages(ctx context.Context, in *struct {
	IDPath
	State relabel.ImageState `query:"state" enum:"pending,present,available,missing,unknown" doc:"Only images in this state."`
	api.PageQuery
}) (*of[api.Page[relabel.ImageNeed]], error) {
	if _, err := s.Store.FindTaskset(ctx, in.ID); err != nil {
		return nil, err
	}
	return pageOf(s.Store.ListTasksetImages(ctx, in.ID, in.State, page(in.PageQuery)))
}

func (s *site) sumImages(ctx context.Context, in *IDPath) (*of[relabel.ImageSums], error) {
	if _, err := s.Store.FindTaskset(ctx, in.ID); err != nil {
		return nil, err
	}
	return one(s.Store.SumTasksetImages(ctx, in.ID))
}

func (s *site) checkImages(ctx context.Context, in *IDPath) (*of[relabel.ImageSums], error) {
	set, err := s.Store.FindTaskset(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if set.Kind == relabel.Localise {
		return nil, relabel.Errorf(relabel.CodeConflict, "the tasks of %s need no image: they are to localise", set.Name)
	}
	if err := s.Store.RequestImageChecks(ctx, in.ID); err != nil {
		return nil, err
	}
	return one(s.Store.SumTasksetImages(ctx, in.ID))
}
