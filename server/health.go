package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"relabel"
	"relabel/api"
)

func (s *site) addHealth() {
	add(s, operation(http.MethodGet, "/healthz", "health", "live", "Is it alive?", "Whether the process answers. It does not check the parts that work needs: live is not ready."), s.showLive)
	add(s, operation(http.MethodGet, "/readyz", "health", "ready", "Is it ready?", "Whether the database and all other required parts are available; otherwise 503 with the missing parts."), s.showReady)
}

func (s *site) showLive(context.Context, *struct{}) (*of[api.Health], error) {
	return &of[api.Health]{api.Health{Status: "live", Version: s.Version}}, nil
}

// readyInput identifies the caller: /readyz is open to load balancers, which have no token.
type readyInput struct{ request *http.Request }

// Resolve keeps the request.
func (in *readyInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humachi.Unwrap(ctx)
	return nil
}

var _ huma.Resolver = (*readyInput)(nil)

func (s *site) showReady(ctx context.Context, in *readyInput) (*of[api.Health], error) {
	checks, cause := s.checkParts(ctx)
	if !s.trusts(in.request) {
		for i := range checks {
			checks[i].Detail = ""
		}
	}
	if cause == nil {
		return &of[api.Health]{api.Health{Status: "ready", Version: s.Version, Checks: checks}}, nil
	}
	noteCause(ctx, cause)
	return nil, notReady(checks)
}

// checkParts checks every part. cause describes all failures for the log; nil: none.
func (s *site) checkParts(ctx context.Context) (checks []api.Check, cause error) {
	database := api.Check{Name: "database", OK: true}
	if err := s.Store.Ping(ctx); err != nil {
		database = api.Check{Name: "database", Detail: "Postgres does not answer"}
		cause = err
	}
	checks = []api.Check{database}
	if s.Ready == nil {
		return checks, cause
	}
	for _, c := range s.Ready(ctx) {
		if !c.OK && !c.Optional {
			cause = errors.Join(cause, errors.New(c.Name+": "+c.Detail))
		}
		checks = append(checks, c)
	}
	return checks, cause
}

// notReady is the problem that names the parts that are missing, with their details as
// far as the caller may have them.
func notReady(checks []api.Check) *api.Problem {
	p := newProblem(relabel.CodeUnavailable, "not ready:", "")
	for _, c := range checks {
		if c.OK || c.Optional {
			continue
		}
		p.Detail += " " + c.Name
		message := "not ready"
		if c.Detail != "" {
			p.Detail += " (" + c.Detail + ")"
			message = c.Detail
		}
		p.Errors = append(p.Errors, api.ProblemField{Location: c.Name, Message: message})
	}
	return p
}
