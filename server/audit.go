package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"relabel"
	"relabel/api"
)

// auditPath is the path that full access is needed to read.
const auditPath = "/v1/audit"

func (s *site) addAudit() {
	add(s, operation(http.MethodGet, auditPath, "audit", "list-audit", "List who changed what",
		"Every request that changes something, including refused ones, newest first, with its token, address and outcome. The first 60 refused requests of a caller per hour have an entry each; the last of these counts the others in more. Read-only tokens have no access."), s.listAudit)
}

func (s *site) listAudit(ctx context.Context, in *struct {
	api.AuditQuery
	api.PageQuery
}) (*of[api.Page[relabel.AuditEntry]], error) {
	return pageOf(s.Store.ListAudit(ctx, relabel.AuditFilter{Token: in.Token, Resource: in.Resource, Since: in.Since}, page(in.PageQuery)))
}

// audit notes every request that changes something, or would if it were not refused, before
// it is carried out, and its outcome before it is answered. Where that is not possible
// nothing is done.
func (s *site) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.audited(r) {
			next.ServeHTTP(w, r)
			return
		}
		entry := s.auditEntry(r)
		caller, _ := relabel.CallerOf(r.Context())
		if err := s.Store.BeginAudit(r.Context(), entry, caller); err != nil {
			s.refuse(w, r, relabel.Errorf(relabel.CodeUnavailable, "the audit log cannot be written, so the request was not executed").Because(err))
			return
		}
		watched := &auditedAnswer{ResponseWriter: w}
		watched.end = func(status int, resource string) {
			if err := s.endAudit(r.Context(), entry.ID, caller, status, resource); err != nil {
				s.Log.Error().Err(err).Str("path", r.URL.Path).Msg("the outcome of an audited request could not be stored")
			}
		}
		defer watched.abandon()
		next.ServeHTTP(watched, r)
		watched.finish(nil)
	})
}

// endAudit notes the outcome of a request. Of a caller's refused requests most are counted
// at an entry of theirs, in the place of an entry each.
func (s *site) endAudit(ctx context.Context, entry relabel.ID, caller relabel.Caller, status int, resource string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if status >= http.StatusBadRequest {
		if at, counts := s.refusals.next(callerKey(caller), entry, time.Now()); counts {
			return s.Store.CountAudit(ctx, entry, at, status)
		}
	}
	return s.Store.EndAudit(ctx, entry, status, resource)
}

// audited reports whether a request gets an entry. Pages change things through the
// interface, with their reader as its caller: of theirs it is those that are refused.
func (s *site) audited(r *http.Request) bool {
	caller, _ := relabel.CallerOf(r.Context())
	if reads(r) || caller.Access == relabel.NoAccess {
		return false
	}
	return isAPI(r.URL.Path) || r.URL.Path == "/sign-out" || !s.allows(r)
}

// How many characters of a request's address an entry keeps. The resource is indexed: an
// index of Postgres holds no text of more than 2,700 bytes.
const (
	mostResource = 200
	mostPath     = 1000
)

// firstRunes is at most the first n characters of a text.
func firstRunes(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}

// auditEntry describes a request without its query and its body.
func (s *site) auditEntry(r *http.Request) relabel.AuditEntry {
	caller, _ := relabel.CallerOf(r.Context())
	e := relabel.AuditEntry{ID: relabel.NewID(), Actor: relabel.ActorLocal, Method: firstRunes(r.Method, mostResource), Path: firstRunes(r.URL.Path, mostPath), Address: caller.Address, Operation: "unknown"}
	switch {
	case caller.Session != "":
		e.Actor = relabel.ActorSession
	case caller.TokenSHA256 != "":
		e.Actor = relabel.ActorToken
	}
	route := chi.NewRouteContext()
	if s.router.Match(route, r.Method, r.URL.Path) {
		if id, ok := s.operations[r.Method+" "+route.RoutePattern()]; ok {
			e.Operation = id
		}
	}
	if r.URL.Path == "/sign-out" {
		e.Operation = "sign-out"
	}
	path := r.URL.Path
	if !isAPI(path) {
		path = "/pages" + path // "", pages, collection, id
	}
	if parts := strings.Split(path, "/"); len(parts) > 3 { // "", v1, collection, id
		e.Resource = firstRunes(parts[3], mostResource)
	}
	return e
}

// operationIDs lists the operations' ids by method and path.
func operationIDs(api *huma.OpenAPI) map[string]string {
	ids := map[string]string{}
	for path, item := range api.Paths {
		for method, op := range map[string]*huma.Operation{http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete} {
			if op != nil {
				ids[method+" "+path] = op.OperationID
			}
		}
	}
	return ids
}

// auditedAnswer keeps the status back until the outcome is noted.
type auditedAnswer struct {
	http.ResponseWriter
	status int
	ended  bool
	end    func(status int, resource string)
}

// WriteHeader keeps the status until the body, which names the created resource.
func (a *auditedAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write notes the outcome, then answers.
func (a *auditedAnswer) Write(b []byte) (int, error) {
	a.finish(b)
	return a.ResponseWriter.Write(b)
}

// finish notes the outcome once and sends the status; body is the beginning of the answer.
func (a *auditedAnswer) finish(body []byte) {
	if a.ended {
		return
	}
	a.ended = true
	if a.status == 0 {
		a.status = http.StatusOK
	}
	resource := ""
	if a.status == http.StatusCreated {
		resource = idIn(body)
	}
	a.end(a.status, resource)
	a.ResponseWriter.WriteHeader(a.status)
}

// abandon notes a request whose handler panicked.
func (a *auditedAnswer) abandon() {
	if !a.ended {
		a.ended = true
		a.end(http.StatusInternalServerError, "")
	}
}

// Unwrap lets http.ResponseController find the connection.
func (a *auditedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// idIn returns the id of the resource in an answer, "" if it has none.
func idIn(answer []byte) string {
	var made struct {
		ID string `json:"id"`
	}
	if json.NewDecoder(bytes.NewReader(answer)).Decode(&made) != nil {
		return ""
	}
	return made.ID
}

// hostOf is a remote address without its port.
func hostOf(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	return host
}
