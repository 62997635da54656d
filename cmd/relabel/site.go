package main

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/api"
	"relabel/envs/scaffold"
	"relabel/mixer/schedule"
	"relabel/server"
	"relabel/web"
	"relabel/worker"
)

// site returns the REST interface and the viewer. ready is nil if the process does not work; token
// demands a bearer token. secrets is the folder of the secrets that policies name.
func (p *process) site(ready func(context.Context) []api.Check, token bool, secrets string) (http.Handler, error) {
	exporter, err := p.exporter()
	if err != nil {
		return nil, err
	}
	overviews := worker.NewOverviews(p.db.Overview)
	p.metrics.AddOverview(overviews)
	var site http.Handler
	attempts := server.NewAttempts()
	pages := web.New(web.Config{Attempts: attempts, Store: p.db.Store, Exports: exporter, Log: p.log, Files: pageFiles(p.log),
		REST: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) })})
	site = server.New(server.Config{
		Store:          p.db.Store,
		Plan:           schedule.Plan,
		Weights:        p.weightsBy(secrets),
		DrawHeldOut:    schedule.DrawHeldOut,
		PrepareRun:     prepareRun,
		ChooseScaffold: scaffold.Choose,
		RequireToken:   token,
		Ready:          ready,
		Pages:          pages,
		Metrics:        p.metrics.Handler(),
		Overview:       overviews.Get,
		Exports:        exporter,
		Tokenizers:     p.tokenizers,
		CheckAddress:   p.rule.CheckURL,
		Log:            p.log,
		Version:        version,
		Spool:          p.data,
		Attempts:       attempts,
	})
	return site, nil
}

// pageFiles returns the folder of the pages' templates and static files that `make dev` names, nil otherwise. It says
// so, since a service must not have it.
func pageFiles(log zerolog.Logger) fs.FS {
	if folder := os.Getenv("RELABEL_WEB_DIR"); folder != "" {
		log.Warn().Str("folder", folder).Msg("RELABEL_WEB_DIR is set, for development: pages are read from that folder and show internal errors; unset it for a service")
		return os.DirFS(folder)
	}
	return nil
}

// prepareRun fills in a run's defaults and validates it.
func prepareRun(r relabel.Run) (relabel.Run, error) {
	r = schedule.Defaults(r)
	if err := schedule.ValidateRun(r); err != nil {
		return r, err
	}
	if err := schedule.CheckParameters(r); err != nil {
		return r, err
	}
	if r.Name != strings.TrimSpace(r.Name) || strings.ContainsFunc(r.Name, unicode.IsControl) {
		return r, relabel.Errorf(relabel.CodeInvalid, "has a control character, or space at its beginning or end").On("name")
	}
	return r, scaffold.CheckPrompts(r)
}
