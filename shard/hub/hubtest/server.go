// Package hubtest serves the protocol of the Hugging Face Hub for data sets, in memory: repositories, branches,
// trees, commits, Git LFS in one request or in parts, and files by ranges. Files in LFS are on a second server,
// which refuses requests with a token, as object stores do.
package hubtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The tokens: Token may write to repositories of Organisation, ReadToken may only read them.
const (
	Token        = "hf_testtesttesttesttesttesttesttest01"
	ReadToken    = "hf_readreadreadreadreadreadreadread01"
	Organisation = "acme"
)

// Server is a Hub.
type Server struct {
	URL     string // of the Hub
	Storage string // URL of the object store

	// PartBytes is the size from which objects are uploaded in parts of that size; 0: never.
	PartBytes int64
	// Before may answer a request instead of the server, which it does by returning true. It is set before the first
	// request; calls may be concurrent.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Alter changes the bytes of an object that is uploaded, which the server then takes for the right ones.
	Alter func(bytes []byte) []byte

	mu       sync.Mutex
	repos    map[string]*repo
	objects  map[string][]byte            // by SHA-256
	uploads  map[string]map[string][]byte // parts by object
	requests []string
}

// Start starts a Hub without repositories. It stops with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{repos: map[string]*repo{}, objects: map[string][]byte{}, uploads: map[string]map[string][]byte{}}
	hub, storage := httptest.NewServer(s.logged(s.hub())), httptest.NewServer(s.logged(s.storage()))
	t.Cleanup(hub.Close)
	t.Cleanup(storage.Close)
	s.URL, s.Storage = hub.URL, storage.URL
	return s
}

// Environ returns the variables with which the Hub's own tools use the server.
func (s *Server) Environ() []string {
	return []string{"HF_ENDPOINT=" + s.URL, "HF_TOKEN=" + Token, "HF_HUB_DISABLE_TELEMETRY=1", "HF_HUB_DISABLE_XET=1"}
}

// Use sets these variables in the environment of the test.
func (s *Server) Use(t testing.TB) {
	t.Helper()
	for _, variable := range s.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// Requests returns the requests that were answered so far, each as method and path, that begin with a prefix.
func (s *Server) Requests(prefix string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.HasPrefix(r, prefix) {
			all = append(all, r)
		}
	}
	return all
}

// logged notes requests and lets Before answer them.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		if s.Before == nil || !s.Before(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

func (s *Server) hub() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/repos/create", s.createRepo)
	mux.HandleFunc("POST /api/validate-yaml", validateCard)
	mux.HandleFunc("GET /api/datasets/{org}/{name}", s.repository(s.showRevision))
	mux.HandleFunc("GET /api/datasets/{org}/{name}/revision/{rev}", s.repository(s.showRevision))
	mux.HandleFunc("GET /api/datasets/{org}/{name}/tree/{rev}", s.repository(s.listTree))
	mux.HandleFunc("GET /api/datasets/{org}/{name}/tree/{rev}/{path...}", s.repository(s.listTree))
	mux.HandleFunc("POST /api/datasets/{org}/{name}/paths-info/{rev}", s.repository(s.showPaths))
	mux.HandleFunc("POST /api/datasets/{org}/{name}/branch/{rev}", s.writable(s.createBranch))
	mux.HandleFunc("POST /api/datasets/{org}/{name}/preupload/{rev}", s.writable(s.preupload))
	mux.HandleFunc("POST /api/datasets/{org}/{name}/commit/{rev}", s.writable(s.commit))
	mux.HandleFunc("GET /datasets/{org}/{name}/resolve/{rev}/{path...}", s.repository(s.resolve))
	mux.HandleFunc("POST /datasets/{org}/{git}/info/lfs/objects/batch", s.batch)
	mux.HandleFunc("POST /complete/{oid}", s.completeParts)
	mux.HandleFunc("POST /verify/{oid}", s.verifyObject)
	return mux
}

// fail answers with an error as the Hub does.
func fail(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	answer(w, status, map[string]string{"error": message})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

// bearer returns the token of a request.
func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// repository finds the repository of a request, which must be public or have a token, and holds the lock.
func (s *Server) repository(do func(w http.ResponseWriter, r *http.Request, found *repo)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		name := strings.TrimSuffix(r.PathValue("name")+r.PathValue("git"), ".git")
		found, is := s.repos[r.PathValue("org")+"/"+name]
		known := bearer(r) == Token || bearer(r) == ReadToken
		switch {
		case bearer(r) != "" && !known:
			fail(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
		case !known && (!is || found.private):
			fail(w, http.StatusUnauthorized, "RepoNotFound", "Invalid username or password.")
		case !is:
			fail(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
		default:
			do(w, r, found)
		}
	}
}

// writable is repository for requests that need write access.
func (s *Server) writable(do func(w http.ResponseWriter, r *http.Request, found *repo)) http.HandlerFunc {
	return s.repository(func(w http.ResponseWriter, r *http.Request, found *repo) {
		if bearer(r) != Token || r.PathValue("org") != Organisation {
			fail(w, http.StatusForbidden, "", "You don't have the required permissions to perform this action. Please ask the owner of the repository.")
			return
		}
		do(w, r, found)
	})
}
