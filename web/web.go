package web

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/rs/zerolog"

	"relabel"
)

// Config is what the pages are made of.
type Config struct {
	Store Store
	// REST is the interface that operations call. It must trust the caller that a request's context
	// knows.
	REST http.Handler
	// Attempts slows the guessing of tokens down; nil: nothing does.
	Attempts Attempts
	// Exports reads rows.
	Exports Exports
	Log     zerolog.Logger // of failures; the zero value logs nothing
}

// policy of the pages: nothing but our own style, scripts and icon is loaded, and nothing
// but this server is asked.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// viewer answers requests for pages.
type viewer struct {
	Config
}

// answer answers a request for a page; an error is shown as a page.
type answer = func(http.ResponseWriter, *http.Request) error

// routes are answers by pattern, as http.ServeMux has them.
type routes map[string]answer

// New returns the pages, to be mounted at / . They link to the REST interface under /v1
// beside them.
func New(config Config) http.Handler {
	v := &viewer{config}
	mux := http.NewServeMux()
	for _, of := range []routes{v.sessionRoutes(), v.runRoutes(), v.operationRoutes(), v.trajectoryRoutes(), v.gridRoutes(), v.taskRoutes(), v.exportRoutes(), v.reviewRoutes(), v.policyRoutes(), v.compareRoutes(), v.auditRoutes(), {"/": v.showNothing}} {
		for pattern, answer := range of {
			mux.HandleFunc(pattern, v.page(answer))
		}
	}
	compressed := middleware.Compress(5, "text/html")(mux)
	all := http.NewServeMux()
	all.HandleFunc("GET /static/{hash}/{name}", serveAsset)
	all.Handle("/", compressed)
	return all
}

// page sets what every page has, and shows an error as a page.
func (v *viewer) page(show answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if err := show(w, r); err != nil {
			v.showError(w, r, err)
		}
	}
}

func (v *viewer) showNothing(_ http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return errMethod
	}
	return relabel.Errorf(relabel.CodeNotFound, "Page not found.")
}

var errMethod = relabel.Errorf(relabel.CodeForbidden, "Pages are read-only.")

// showError shows what went wrong, without its cause.
func (v *viewer) showError(w http.ResponseWriter, r *http.Request, err error) {
	view := struct{ Title, Message, Without string }{Title: "Internal error", Message: "The server's log says more."}
	status := http.StatusInternalServerError
	switch code := relabel.CodeOf(err); {
	case code == relabel.CodeNotFound:
		status, view.Title, view.Message = http.StatusNotFound, "Not found", safeMessage(err)
	case code == relabel.CodeInvalid:
		status, view.Title, view.Message = http.StatusBadRequest, "This cannot be shown", safeMessage(err)
		if r.Method == http.MethodGet && r.URL.RawQuery != "" {
			view.Without = r.URL.EscapedPath()
		}
	case errors.Is(err, errMethod):
		status, view.Title, view.Message = http.StatusMethodNotAllowed, "Not possible", safeMessage(err)
		w.Header().Set("Allow", "GET, HEAD")
	case code == relabel.CodeForbidden:
		status, view.Title, view.Message = http.StatusForbidden, "Not allowed", safeMessage(err)
	case code == relabel.CodeConflict:
		status, view.Title, view.Message = http.StatusConflict, "Not possible now", safeMessage(err)
	case code == relabel.CodeBusy:
		status, view.Title, view.Message = http.StatusTooManyRequests, "Too many at once", safeMessage(err)
	case code == relabel.CodeUnavailable:
		status, view.Title, view.Message = http.StatusServiceUnavailable, "Not available", safeMessage(err)
	case r.Context().Err() != nil: // nobody waits for the answer any more
	default:
		v.Log.Error().Err(err).Str("path", r.URL.Path).Msg("page")
	}
	r.URL.RawQuery = "" // the whole page, whatever part was asked for
	if err := v.render(w, r, page{Template: "error", Title: view.Title, Status: status, View: view}); err != nil {
		v.Log.Error().Err(err).Str("path", r.URL.Path).Msg("page of an error")
	}
}

// safeMessage is what an error says to people.
func safeMessage(err error) string {
	var e *relabel.Error
	if !errors.As(err, &e) {
		return ""
	}
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}
