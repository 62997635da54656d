package web

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/rs/zerolog"

	"relabel"
)

// Config connects the pages.
type Config struct {
	Store Store
	// REST is the interface that operations call. It must trust the caller in a request's context.
	REST http.Handler
	// Attempts limits how fast tokens can be guessed; nil: no limit.
	Attempts Attempts
	// Exports reads rows.
	Exports Exports
	Log     zerolog.Logger // of failures; the zero value logs nothing
	// Files has the folders templates and static, which are read at each request, and pages then show
	// internal errors: for development. nil: the files in the program.
	Files fs.FS
}

// contentPolicy lets pages load only our own style, scripts and icon, and connect only to this
// server.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

type viewer struct {
	Config
	content func() (*content, error)
}

// answer answers a request for a page; an error is shown as a page.
type answer = func(http.ResponseWriter, *http.Request) error

// routes are answers by pattern, as http.ServeMux has them.
type routes map[string]answer

// New returns the pages, to be mounted at /. They link to the REST interface at /v1.
func New(config Config) http.Handler {
	v := &viewer{config, contentOf(config.Files)}
	mux := http.NewServeMux()
	for _, of := range []routes{v.sessionRoutes(), v.runRoutes(), v.runOperationRoutes(), v.iterationOperationRoutes(), v.trajectoryRoutes(), v.taskRoutes(), v.soundnessRoutes(), v.exportRoutes(), v.reviewRoutes(), v.divergenceRoutes(), v.failureRoutes(), v.scalingRoutes(), v.labelRuleRoutes(), v.benchmarkRoutes(), v.exclusionRoutes(), v.reportRoutes(), v.localisationRoutes(), v.policyRoutes(), v.compareRoutes(), v.auditRoutes(), {"/": v.showNothing}} {
		for pattern, answer := range of {
			mux.HandleFunc(pattern, v.page(answer))
		}
	}
	compressed := middleware.Compress(5, "text/html")(mux)
	all := http.NewServeMux()
	all.HandleFunc("GET /static/{hash}/{name}", v.serveAsset)
	all.Handle("/", compressed)
	return all
}

// page sets the common headers, and shows an error as a page.
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

var errorPages = map[relabel.Code]struct {
	status int
	title  string
}{
	relabel.CodeNotFound:    {http.StatusNotFound, "Not found"},
	relabel.CodeInvalid:     {http.StatusBadRequest, "This cannot be shown"},
	relabel.CodeForbidden:   {http.StatusForbidden, "Not allowed"},
	relabel.CodeConflict:    {http.StatusConflict, "Not possible now"},
	relabel.CodeBusy:        {http.StatusTooManyRequests, "Too many at once"},
	relabel.CodeUnavailable: {http.StatusServiceUnavailable, "Not available"},
}

// showError shows an error as a page, without its cause.
func (v *viewer) showError(w http.ResponseWriter, r *http.Request, err error) {
	view := struct{ Title, Message, Without string }{Message: safeMessage(err)}
	code := relabel.CodeOf(err)
	of, known := errorPages[code]
	switch {
	case errors.Is(err, errMethod):
		of.status, of.title = http.StatusMethodNotAllowed, "Not possible"
		w.Header().Set("Allow", "GET, HEAD")
	case !known:
		of.status, of.title, view.Message = http.StatusInternalServerError, "Internal error", v.internal(err)
		if r.Context().Err() == nil { // else the client has disconnected
			v.Log.Error().Err(err).Str("path", r.URL.Path).Msg("page")
		}
	case code == relabel.CodeInvalid && r.Method == http.MethodGet && r.URL.RawQuery != "":
		view.Without = r.URL.EscapedPath()
	}
	view.Title = of.title
	r.URL.RawQuery = "" // the whole page, also where a part was requested
	if err := v.render(w, r, page{Template: "error", Title: of.title, Status: of.status, View: view}); err != nil {
		v.showBroken(w, r, err)
	}
}

// showBroken shows as text an error that cannot be shown as a page.
func (v *viewer) showBroken(w http.ResponseWriter, r *http.Request, err error) {
	v.Log.Error().Err(err).Str("path", r.URL.Path).Msg("page of an error")
	http.Error(w, v.internal(err), http.StatusInternalServerError)
}

// internal is what a page shows of an internal error.
func (v *viewer) internal(err error) string {
	if v.Files != nil {
		return err.Error()
	}
	return "See the server's log."
}

// safeMessage is the message of an error for people.
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
