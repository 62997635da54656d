package server

import (
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// NewMetrics returns config.Metrics alone, at /metrics behind the interface's own guards,
// for a process that serves nothing else. Of config it needs Store, RequireToken, Metrics
// and Log.
func NewMetrics(config Config) http.Handler {
	s := &site{Config: config, router: chi.NewRouter()}
	if s.Attempts == nil {
		s.Attempts = NewAttempts()
	}
	s.router.Use(s.logRequests, setSecurityHeaders, s.paceConnections, s.authenticate, s.authorize, middleware.GetHead)
	s.router.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"live"}`) // a client that is gone reads nothing
	})
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	s.addMetrics()
	return s.router
}

func (s *site) addMetrics() {
	if s.Metrics != nil {
		s.router.Method(http.MethodGet, "/metrics", s.Metrics)
	}
}
