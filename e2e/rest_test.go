package e2e

import (
	"context"
	"net/http"

	"relabel/cli"
)

// session is a session whose answers tests read as they like.
type session struct{ *cli.Session }

// get asks for a path and decodes the answer into out.
func (s *session) get(ctx context.Context, path string, out any) error {
	return s.Send(ctx, http.MethodGet, path, nil, out)
}

// post sends in as JSON and decodes the answer into out.
func (s *session) post(ctx context.Context, path string, in, out any) error {
	return s.Send(ctx, http.MethodPost, path, in, out)
}
