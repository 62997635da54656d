package main

import (
	"context"
	"net/http"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/api"
	"relabel/envs/scaffold/openhands"
	"relabel/mixer/schedule"
	"relabel/server"
	"relabel/tasks"
	"relabel/web"
	"relabel/worker"
)

// siteConfig is what newSite needs.
type siteConfig struct {
	db    *database
	data  string                            // folder of the exports, and of uploads while they are received
	ready func(context.Context) []api.Check // nil if this process does not work
	token bool                              // demand a bearer token
	log   zerolog.Logger

	metrics   *worker.Metrics
	resources resources
}

// newSite returns the REST interface and the viewer.
func newSite(c siteConfig) (http.Handler, error) {
	exporter, err := newExporter(c.db, c.data, c.resources, c.log)
	if err != nil {
		return nil, err
	}
	all := worker.NewOverviews(c.db.Overview)
	c.metrics.AddOverview(all)
	var site http.Handler
	attempts := server.NewAttempts()
	pages := web.New(web.Config{Attempts: attempts, Store: c.db.Store, Exports: exporter, Log: c.log, REST: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) })})
	site = server.New(server.Config{
		Store:          c.db.Store,
		Plan:           schedule.Plan,
		ParseTasks:     tasks.Read,
		DrawHeldOut:    schedule.DrawHeldOut,
		PrepareRun:     prepareRun,
		DefaultPrompts: defaultPrompts,
		RequireToken:   c.token,
		Ready:          c.ready,
		Pages:          pages,
		Metrics:        c.metrics.Handler(),
		Overview:       all.Get,
		Exports:        exporter,
		Tokenizers:     c.resources.tokenizers,
		CheckAddress:   c.resources.rule.CheckURL,
		Log:            c.log,
		Version:        version,
		Spool:          c.data,
		Attempts:       attempts,
	})
	return site, nil
}

// prepareRun fills in a run's defaults and validates it.
func prepareRun(r relabel.Run) (relabel.Run, error) {
	r = schedule.Defaults(r)
	if err := schedule.ValidateRun(r); err != nil {
		return r, err
	}
	return r, openhands.CheckPrompts(r.Prompts)
}

// defaultPrompts returns the default prompts of a scaffold.
func defaultPrompts(scaffold string) (relabel.Prompts, error) {
	if scaffold != openhands.Name {
		return relabel.Prompts{}, relabel.Errorf(relabel.CodeInvalid, "there is no scaffold %q; there is %q", scaffold, openhands.Name).On("scaffold")
	}
	return openhands.DefaultPrompts(), nil
}
