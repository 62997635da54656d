package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/api"
)

// Config configures the interface. Store, Plan, DrawHeldOut, PrepareRun and
// ChooseScaffold are required; the rest may stay zero.
type Config struct {
	Store Store
	Plan  Planner
	// DrawHeldOut chooses n of ids with a seed, the same ones on any machine.
	DrawHeldOut func(seed int64, ids []string, n int) []string
	// PrepareRun fills in a new run's defaults and refuses one that cannot run, with a
	// CodeInvalid error on the field.
	PrepareRun func(relabel.Run) (relabel.Run, error)
	// ChooseScaffold returns the name and the texts of a scaffold for tasks of a kind, by default the
	// kind's own; CodeInvalid for an unknown one, or one for tasks of another kind.
	ChooseScaffold func(name string, kind relabel.TaskKind) (string, relabel.Prompts, error)
	// RequireToken demands a bearer token of everyone. Without it only callers that name
	// this machine's loopback address are answered.
	RequireToken bool
	// Ready checks the parts that rollouts need; nil: no checks.
	Ready func(ctx context.Context) []api.Check
	// Exports is the storage of exports.
	Exports Exports
	// Tokenizers opens the tokenizers that policies and exports name.
	Tokenizers Tokenizers
	// CheckAddress refuses, with CodeAddressRefused, a URL whose host is an address that this
	// process may not connect to; names are checked when they are dialled. nil: none is refused.
	CheckAddress func(url string) error
	// Weights checks and loads the weights of policies; nil: they are neither checked nor loaded.
	Weights Weights
	// Pages answers all other paths, behind the same guards; nil: 404.
	Pages http.Handler
	// Metrics answers GET /metrics behind the same guards; nil: 404.
	Metrics http.Handler
	// Overview returns the state of all work; it may be a few seconds old.
	Overview func(ctx context.Context) (relabel.Overview, error)
	Log      zerolog.Logger
	Version  string
	// Attempts slows the guessing of tokens down; nil: one of the interface's own.
	Attempts *Attempts
	// Pace bounds slow clients; zero: its defaults.
	Pace Pace
	// Spool is the folder that uploads are received in; "": the system's for temporary files.
	Spool string
}

// Exports are the operations on exports that the interface needs.
type Exports interface {
	// Prepare fills in the location of a new export of a run with this recipe, and refuses an impossible
	// form or destination with a CodeInvalid error on the field.
	Prepare(ctx context.Context, recipe relabel.Recipe, e relabel.Export) (relabel.Export, error)
	// PreparePush returns a push of a finished export with its place in its usual form. CodeInvalid on the field if the
	// destination or a rule is invalid, CodeConflict if the text has secrets that are not allowed.
	PreparePush(ctx context.Context, e relabel.Export, p relabel.ExportPush) (relabel.ExportPush, error)
	// Open opens a file of a finished export. CodeNotFound if there is no such file.
	Open(ctx context.Context, e relabel.Export, path string) (relabel.FileReader, error)
	// Remove removes an export's files. CodeConflict if they are on another machine.
	Remove(ctx context.Context, e relabel.Export) error
}

// Tokenizers are the operations on tokenizers that the interface needs.
type Tokenizers interface {
	// Check refuses, with CodeInvalid naming the file, files that cannot be used.
	Check(ctx context.Context, files relabel.TokenizerFiles) error
	// Accepts refuses, with CodeInvalid naming the field, a tokenizer or a template's file
	// that is named by a path and cannot be opened here. A name with a hash is accepted.
	Accepts(ctx context.Context, ref relabel.TokenizerRef, templateFile string) error
	// Vocabulary returns the vocabulary hash of a policy's tokenizer. CodeInvalid on policy if
	// the policy has no registered one.
	Vocabulary(ctx context.Context, p relabel.Policy) (hash string, err error)
}

// site is the interface with its dependencies.
type site struct {
	Config
	api       huma.API
	router    *chi.Mux
	followers *followers
	bodies    bodySlots
	answers   *answerSlots
	refusals  *refusals
	// operations are the ids of the operations that change something, by method and path.
	operations map[string]string
}

// New returns the interface: /v1, /healthz, /readyz, /metrics, /openapi.json, /docs, and
// config.Pages at every other path.
func New(config Config) http.Handler {
	s := &site{Config: config, router: chi.NewRouter(), bodies: newBodySlots(), answers: newAnswerSlots(), refusals: newRefusals()}
	if s.Attempts == nil {
		s.Attempts = NewAttempts()
	}
	s.router.Use(s.logRequests, setSecurityHeaders, s.paceConnections, s.authenticate, s.readAddress, s.audit, s.authorize, s.refuseAddress, s.boundAnswers, middleware.GetHead, s.takeBody)
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	s.api = humachi.New(s.router, apiConfig(config))
	s.addTasksets()
	s.addImages()
	s.addValidations()
	s.addExclusionLists()
	s.addBenchmarks()
	s.addExclusions()
	s.addTokenizers()
	s.addConversations()
	s.addPolicies()
	s.addRuns()
	s.addRunDeletion()
	s.addIterations()
	s.addWeights()
	s.addLoading()
	s.addScheduling()
	s.addWorkers()
	s.addEvents()
	s.addWebhooks()
	s.addTrajectories()
	s.addTurns()
	s.addATIF()
	s.addTrajectoryImport()
	s.addRelabelings()
	s.addScorings()
	s.addJudgings()
	s.addDivergences()
	s.addScaling()
	s.addRegradings()
	s.addReviews()
	s.addOutcomes()
	s.addFailures()
	s.addLabelRules()
	s.addEvaluations()
	s.addLocalisations()
	s.addExports()
	s.addExportFiles()
	s.addTime()
	s.addAudit()
	s.addHealth()
	s.addMetrics()
	s.addDescription()
	return s.router
}

// NewHTTP returns a server for handler whose clients cannot hold it with slow headers,
// slow bodies or idle connections.
func NewHTTP(addr string, handler http.Handler) *http.Server {
	srv := &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Minute, // paceConnections replaces it for requests with a body
		WriteTimeout:      10 * time.Minute, // until the first byte; then paceConnections bounds each piece
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    256 << 10,
	}
	tellOfStopping(srv)
	return srv
}

// isAPI reports whether a path belongs to the interface rather than to the pages.
func isAPI(path string) bool {
	switch path {
	case "/v1", "/healthz", "/readyz", "/openapi.json", "/docs", "/metrics":
		return true
	}
	return strings.HasPrefix(path, "/v1/")
}

func (s *site) notFound(w http.ResponseWriter, r *http.Request) {
	if s.Pages != nil && !isAPI(r.URL.Path) {
		s.Pages.ServeHTTP(w, r)
		return
	}
	s.refuse(w, r, relabel.Errorf(relabel.CodeNotFound, "nothing is at this path; /docs lists all paths"))
}

// methodNotAllowed also lists the allowed methods in Allow.
func (s *site) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		asked := method
		if method == http.MethodHead {
			asked = http.MethodGet
		}
		if s.router.Match(chi.NewRouteContext(), asked, r.URL.Path) {
			w.Header().Add("Allow", method)
		}
	}
	s.refuse(w, r, relabel.Errorf(codeMethod, "%s is not possible here", r.Method))
}
