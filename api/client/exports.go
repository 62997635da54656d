package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"relabel"
	"relabel/api"
)

// StartExport queues a data set.
func (c *Client) StartExport(ctx context.Context, in api.NewExport) (relabel.Export, error) {
	return post[relabel.Export](ctx, c, at("exports"), in)
}

// Exports lists exports, newest first. filter takes run.
func (c *Client) Exports(ctx context.Context, filter url.Values) ([]relabel.Export, error) {
	return list[relabel.Export](ctx, c, at("exports"), filter)
}

// Export returns an export.
func (c *Client) Export(ctx context.Context, id relabel.ID) (relabel.Export, error) {
	return get[relabel.Export](ctx, c, at("exports", id.String()))
}

// CancelExport ends an export that is not done.
func (c *Client) CancelExport(ctx context.Context, id relabel.ID) (relabel.Export, error) {
	return post[relabel.Export](ctx, c, at("exports", id.String(), "cancel"), nil)
}

// PushExport queues a push of a finished export, and returns the export with it.
func (c *Client) PushExport(ctx context.Context, id relabel.ID, in api.PushExport) (relabel.Export, error) {
	return post[relabel.Export](ctx, c, at("exports", id.String(), "push"), in)
}

// CancelPush ends the open push of an export.
func (c *Client) CancelPush(ctx context.Context, id relabel.ID) (relabel.Export, error) {
	return post[relabel.Export](ctx, c, at("exports", id.String(), "push", "cancel"), nil)
}

// DeleteExport removes an export and its files; with leaveFiles also where its files cannot be removed.
func (c *Client) DeleteExport(ctx context.Context, id relabel.ID, leaveFiles bool) (deleted api.ExportDeleted, err error) {
	path := at("exports", id.String())
	if leaveFiles {
		path += "?leave_files=true"
	}
	return deleted, c.Send(ctx, http.MethodDelete, path, nil, &deleted)
}

// ExportFile opens a file of a finished export, by its path as the export lists it. The caller closes it.
func (c *Client) ExportFile(ctx context.Context, id relabel.ID, path string) (io.ReadCloser, error) {
	names := append([]string{"exports", id.String(), "files"}, strings.Split(path, "/")...)
	res, err := c.open(ctx, http.MethodGet, at(names...), file{}, nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
