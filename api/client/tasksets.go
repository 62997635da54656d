package client

import (
	"context"
	"net/url"

	"relabel"
	"relabel/api"
)

// ImportTaskset imports JSONL with one task per line. options takes name, format, held_out, held_out_count and held_out_seed.
func (c *Client) ImportTaskset(ctx context.Context, options url.Values, lines []byte) (api.ImportedTaskset, error) {
	return post[api.ImportedTaskset](ctx, c, under(at("tasksets"), options), file{"application/x-ndjson", lines})
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
