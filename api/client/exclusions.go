package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"relabel"
	"relabel/api"
)

// CreateExclusion adds an exclusion list.
func (c *Client) CreateExclusion(ctx context.Context, in api.NewExclusionList) (api.ExclusionView, error) {
	return post[api.ExclusionView](ctx, c, at("exclusions"), in)
}

// Exclusions lists exclusion lists, newest first.
func (c *Client) Exclusions(ctx context.Context) ([]relabel.Exclusion, error) {
	return list[relabel.Exclusion](ctx, c, at("exclusions"), nil)
}

// Exclusion returns an exclusion list by its id or its name.
func (c *Client) Exclusion(ctx context.Context, word string) (api.ExclusionView, error) {
	return get[api.ExclusionView](ctx, c, at("exclusions", word))
}

// DeleteExclusion deletes an exclusion list, by its id or its name, and returns it.
func (c *Client) DeleteExclusion(ctx context.Context, word string) (e relabel.Exclusion, err error) {
	return e, c.Send(ctx, http.MethodDelete, at("exclusions", word), nil, &e)
}

// Overlaps compares the tasks of a task set, by its id, with others. A threshold of 0 is the default.
func (c *Client) Overlaps(ctx context.Context, taskset relabel.ID, query api.OverlapsQuery) (relabel.OverlapReport, error) {
	parameters := url.Values{"other": query.With, "entry": query.Entries}
	if query.Threshold > 0 {
		parameters.Set("threshold", strconv.FormatFloat(query.Threshold, 'g', -1, 64))
	}
	if query.Revision > 0 {
		parameters.Set("revision", strconv.Itoa(query.Revision))
	}
	return get[relabel.OverlapReport](ctx, c, under(at("tasksets", taskset.String(), "overlaps"), parameters))
}
