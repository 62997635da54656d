package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"relabel"
)

// Check says whether one part that work needs is there.
type Check struct {
	Name   string `json:"name" doc:"The part: database, docker, …"`
	OK     bool   `json:"ok" doc:"Whether it is there."`
	Detail string `json:"detail,omitempty" doc:"What is missing and what to do about it. Where tokens are demanded, only callers with one are told; the log says it too."`
}

// Health says that the server lives or is ready.
type Health struct {
	Status  string  `json:"status" enum:"live,ready" doc:"live: the process answers. ready: all that work needs is there."`
	Version string  `json:"version" doc:"Version of relabel."`
	Checks  []Check `json:"checks,omitempty" doc:"The parts that were asked; of /readyz."`
}

func (s *site) addHealth() {
	add(s, operation(http.MethodGet, "/healthz", "health", "live", "Is it alive?", "Whether the process answers. It says nothing about what work needs: live is not ready."), s.showLive)
	add(s, operation(http.MethodGet, "/readyz", "health", "ready", "Is it ready?", "Whether the database and all else that work needs is there; 503 with the parts that are missing otherwise."), s.showReady)
}

func (s *site) showLive(context.Context, *struct{}) (*of[Health], error) {
	return &of[Health]{Health{Status: "live", Version: s.Version}}, nil
}

// readyInput tells who asks: /readyz is open to load balancers, which have no token.
type readyInput struct{ request *http.Request }

// Resolve keeps the request.
func (in *readyInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humachi.Unwrap(ctx)
	return nil
}

var _ huma.Resolver = (*readyInput)(nil)

func (s *site) showReady(ctx context.Context, in *readyInput) (*of[Health], error) {
	checks, cause := s.checkParts(ctx)
	if !s.trusts(in.request) {
		for i := range checks {
			checks[i].Detail = ""
		}
	}
	if cause == nil {
		return &of[Health]{Health{Status: "ready", Version: s.Version, Checks: checks}}, nil
	}
	noteCause(ctx, cause)
	return nil, notReady(checks)
}

// checkParts asks every part. cause says all that is missing, for the log; nil: nothing is.
func (s *site) checkParts(ctx context.Context) (checks []Check, cause error) {
	database := Check{Name: "database", OK: true}
	if err := s.Store.Ping(ctx); err != nil {
		database = Check{Name: "database", Detail: "Postgres does not answer"}
		cause = err
	}
	checks = []Check{database}
	if s.Ready == nil {
		return checks, cause
	}
	for _, c := range s.Ready(ctx) {
		if !c.OK {
			cause = errors.Join(cause, errors.New(c.Name+": "+c.Detail))
		}
		checks = append(checks, c)
	}
	return checks, cause
}

// notReady is the problem that names the parts that are missing, with their details as
// far as the caller may have them.
func notReady(checks []Check) *Problem {
	p := newProblem(relabel.CodeUnavailable, "not ready:", "")
	for _, c := range checks {
		if c.OK {
			continue
		}
		p.Detail += " " + c.Name
		message := "not ready"
		if c.Detail != "" {
			p.Detail += " (" + c.Detail + ")"
			message = c.Detail
		}
		p.Errors = append(p.Errors, ProblemField{Location: c.Name, Message: message})
	}
	return p
}
