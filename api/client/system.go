package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
)

// Overview says how everything stands.
func (c *Client) Overview(ctx context.Context) (relabel.Overview, error) {
	return get[relabel.Overview](ctx, c, at("overview"))
}

// Workers lists the processes that roll out.
func (c *Client) Workers(ctx context.Context) ([]relabel.Worker, error) {
	return list[relabel.Worker](ctx, c, at("workers"), nil)
}

// Audit lists who changed what, newest first. filter takes token_name, resource and since.
func (c *Client) Audit(ctx context.Context, filter url.Values) ([]relabel.AuditEntry, error) {
	return list[relabel.AuditEntry](ctx, c, at("audit"), filter)
}

// Live returns an error unless the server answers.
func (c *Client) Live(ctx context.Context) (api.Health, error) {
	return get[api.Health](ctx, c, "/healthz")
}

// Ready returns an error unless all that work needs is there.
func (c *Client) Ready(ctx context.Context) (api.Health, error) {
	return get[api.Health](ctx, c, "/readyz")
}

// read returns an answer that is not JSON.
func (c *Client) read(ctx context.Context, path string) ([]byte, error) {
	res, err := c.whole(ctx, http.MethodGet, path, file{})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, c.unusable(err)
	}
	return text, nil
}
