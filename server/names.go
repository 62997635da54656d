package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// finder returns the id of the resource with a name.
type finder = func(ctx context.Context, name string) (relabel.ID, error)

// pathNames are the collections below /v1 whose items are found by id or by name.
func (s *site) pathNames() map[string]finder {
	return map[string]finder{"runs": s.runID, "tasksets": s.tasksetID, "benchmarks": s.benchmarkID, "exclusions": s.exclusionID}
}

// queryNames are the filters that take an id or a name.
func (s *site) queryNames() map[string]finder {
	return map[string]finder{"run": s.runID, "taskset": s.tasksetID, "policy": s.policyID}
}

func (s *site) runID(ctx context.Context, name string) (relabel.ID, error) {
	run, err := s.findRun(ctx, name)
	return run.ID, err
}

func (s *site) tasksetID(ctx context.Context, name string) (relabel.ID, error) {
	set, err := s.findTaskset(ctx, name)
	return set.ID, err
}

func (s *site) policyID(ctx context.Context, name string) (relabel.ID, error) {
	policy, err := s.findPolicy(ctx, name)
	return policy.ID, err
}

// findRun finds a run by its id or its name.
func (s *site) findRun(ctx context.Context, word string) (relabel.Run, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindRun(ctx, id)
	}
	return s.Store.FindRunByName(ctx, word)
}

// findTaskset finds a taskset by its id or its name.
func (s *site) findTaskset(ctx context.Context, word string) (relabel.Taskset, error) {
	if id, err := uuid.Parse(word); err == nil {
		return s.Store.FindTaskset(ctx, id)
	}
	return s.Store.FindTasksetByName(ctx, word)
}

// addressRefusal is the context key of the error in a request's address.
type addressRefusal struct{}

// readAddress replaces names by ids in the path and the query of a request, so that every
// operation and every filter accepts both. It stores errors for refuseAddress, which runs after
// the access check and the audit log.
func (s *site) readAddress(next http.Handler) http.Handler {
	inPath, inQuery := s.pathNames(), s.queryNames()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refusal := queryProblem(r)
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			address := *r.URL
			if err := resolvePath(r.Context(), &address, inPath); refusal == nil {
				refusal = err
			}
			if refusal == nil {
				refusal = resolveQuery(r.Context(), &address, inQuery)
			}
			r = r.WithContext(r.Context())
			r.URL = &address
		}
		if refusal != nil {
			r = r.WithContext(context.WithValue(r.Context(), addressRefusal{}, refusal))
		}
		next.ServeHTTP(w, r)
	})
}

// refuseAddress refuses a request whose address readAddress found wrong.
func (s *site) refuseAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal, wrong := r.Context().Value(addressRefusal{}).(error); wrong {
			s.refuse(w, r, refusal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// resolvePath replaces the name in /v1/COLLECTION/NAME/…; CodeNotFound if no resource has it.
func resolvePath(ctx context.Context, address *url.URL, names map[string]finder) error {
	segments := strings.SplitN(address.EscapedPath(), "/", 5) // "", v1, collection, name, rest
	if len(segments) < 4 || names[segments[2]] == nil {
		return nil
	}
	name, err := url.PathUnescape(segments[3])
	if err != nil || name == "" || isID(name) {
		return nil // the router answers malformed paths
	}
	id, err := names[segments[2]](ctx, name)
	if err != nil {
		return err
	}
	segments[3] = id.String()
	escaped := strings.Join(segments, "/")
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return relabel.Errorf(api.CodeMalformed, "the path is not well-formed")
	}
	address.Path, address.RawPath = path, escaped
	return nil
}

// resolveQuery replaces names in filters; CodeInvalid if no resource has one.
func resolveQuery(ctx context.Context, address *url.URL, names map[string]finder) error {
	query, changed := address.Query(), false
	for name, find := range names {
		word := query.Get(name)
		if word == "" || isID(word) {
			continue
		}
		id, err := find(ctx, word)
		if err != nil {
			return inQuery(asField(err, name), name)
		}
		query.Set(name, id.String())
		changed = true
	}
	if changed {
		address.RawQuery = query.Encode()
	}
	return nil
}

// inQuery makes a refusal of a parameter one like those of huma.
func inQuery(err error, name string) error {
	var refused *relabel.Error
	if !errors.As(err, &refused) || refused.Code != relabel.CodeInvalid {
		return err
	}
	return problemOf(http.StatusUnprocessableEntity, "the query is not valid", []error{&huma.ErrorDetail{Location: "query." + name, Message: refused.Message}})
}

// isID reports whether a word is an id rather than a name.
func isID(word string) bool {
	_, err := uuid.Parse(word)
	return err == nil
}

// checkNewName refuses a name of a run or a taskset that would be read as an id.
func checkNewName(name string) error {
	if isID(name) {
		return relabel.Errorf(relabel.CodeInvalid, "looks like an id; choose another name").On("name")
	}
	return nil
}

// checkBenchmarkName refuses a new name that a page or a README would show as another text.
func checkBenchmarkName(name string) error {
	if name != strings.TrimSpace(name) || strings.ContainsFunc(name, unicode.IsControl) || name != safetext.Plain(name) {
		return relabel.Errorf(relabel.CodeInvalid, "has a character that is not visible, or space at its beginning or end").On("name")
	}
	return checkNewName(name)
}

// describeNames documents where operations accept names. huma itself sees only ids, because
// readAddress runs before it.
func (s *site) describeNames() {
	inPath, inQuery := s.pathNames(), s.queryNames()
	for path, item := range s.api.OpenAPI().Paths {
		collection, _, _ := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				if p.In == "path" && p.Name == "id" && inPath[collection] != nil {
					p.Schema, p.Description = &huma.Schema{Type: huma.TypeString}, "Its id or its name."
				}
				if p.In == "query" && inQuery[p.Name] != nil {
					p.Schema = &huma.Schema{Type: huma.TypeString}
				}
			}
		}
	}
}
