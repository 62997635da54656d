package client

import (
	"context"
	"io"
	"net/url"

	"relabel"
	"relabel/api"
)

// ImportTaskset imports a file of tasks, or a tar archive of several, of size bytes. options takes name, file, format, split,
// append, skip_bad, held_out, held_out_count and held_out_seed.
func (c *Client) ImportTaskset(ctx context.Context, options url.Values, content io.Reader, size int64) (api.ImportedTaskset, error) {
	return post[api.ImportedTaskset](ctx, c, under(at("tasksets"), options), file{"application/octet-stream", content, size})
}

// Tasksets lists all task sets, newest first.
func (c *Client) Tasksets(ctx context.Context) ([]relabel.Taskset, error) {
	return list[relabel.Taskset](ctx, c, at("tasksets"), nil)
}

// Taskset returns a task set by its id or its name.
func (c *Client) Taskset(ctx context.Context, word string) (relabel.Taskset, error) {
	return get[relabel.Taskset](ctx, c, at("tasksets", word))
}

// Tasks lists the tasks of a task set.
func (c *Client) Tasks(ctx context.Context, taskset relabel.ID) ([]relabel.Task, error) {
	return list[relabel.Task](ctx, c, at("tasksets", taskset.String(), "tasks"), nil)
}

// Images lists the images that the tasks of a task set need; with a state only those in it.
func (c *Client) Images(ctx context.Context, taskset relabel.ID, state relabel.ImageState) ([]relabel.ImageNeed, error) {
	query := url.Values{}
	if state != "" {
		query.Set("state", string(state))
	}
	return list[relabel.ImageNeed](ctx, c, at("tasksets", taskset.String(), "images"), query)
}

// ImageSums returns the sums of these images.
func (c *Client) ImageSums(ctx context.Context, taskset relabel.ID) (relabel.ImageSums, error) {
	return get[relabel.ImageSums](ctx, c, at("tasksets", taskset.String(), "images", "summary"))
}

// CheckImages asks workers to check these images.
func (c *Client) CheckImages(ctx context.Context, taskset relabel.ID) (relabel.ImageSums, error) {
	return post[relabel.ImageSums](ctx, c, at("tasksets", taskset.String(), "images", "check"), nil)
}
