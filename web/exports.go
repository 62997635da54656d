package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"relabel"
	"relabel/safetext"
)

const exportsShown = 50

func (v *viewer) exportRoutes() routes {
	to := routes{"GET /exports": v.listExports, "GET /exports/{id}": of(v.exportOf, v.showExport), "GET /exports/{id}/rows/{view}/{row}": of(v.exportOf, v.showExportRow)}
	v.addOperation(to, "/exports/{id}/cancel", on(v.exportOf, v.cancelExport))
	v.addOperation(to, "/exports/{id}/delete", on(v.exportOf, v.deleteExport))
	v.addOperation(to, "/exports/{id}/push", on(v.exportOf, v.pushExport))
	v.addOperation(to, "/exports/{id}/push/cancel", on(v.exportOf, v.cancelPush))
	return to
}

type exportView struct {
	relabel.Export
	Run        string
	Bytes      int
	Views      []viewRows
	Excluded   []excludedCount
	Shards     []relabel.ExportFile // of its views
	Options    string               // of its form, as JSON
	Operations []operationLink
	Progress   string
	Selected   []relabel.SelectedIteration
	Manifest   *relabel.Manifest // nil if it is not here, or not there yet
	Apart      string            // why it is not here
	Curl       string            // fetches the files
	Pushes     []pushView
}

// pushView is a push with its bytes as the templates show them.
type pushView struct {
	relabel.ExportPush
	Sent, Of int
}

// Stated is the number of selected labelled states.
func (v exportView) Stated() int {
	n := v.Rows
	for _, of := range v.Export.Excluded {
		n += of
	}
	return n
}

// viewRows is a view with the contents of its files.
type viewRows struct {
	View                     relabel.View
	Files, Rows              int
	Tokens, SupervisedTokens int
	Bytes                    int
	Fill                     *float64 // how full its bins are; nil if there are none
}

func filesOf(e relabel.Export, view relabel.View) (files []relabel.ExportFile) {
	for _, f := range e.Files {
		if strings.HasPrefix(f.Path, string(view)+"/") {
			files = append(files, f)
		}
	}
	return files
}

// excludedCount is the number of labelled states that were excluded for a reason.
type excludedCount struct {
	Reason string
	States int
	Link   string // of the trajectories with that reason, "" if no list shows them
}

// viewExport summarizes an export.
func (v *viewer) viewExport(r *http.Request, e relabel.Export) (exportView, error) {
	run, err := v.runName(r.Context(), e.Selection.RunID)
	view := exportView{Export: e, Run: run}
	for _, name := range e.Form.Views {
		sum := viewRows{View: name}
		for _, f := range filesOf(e, name) {
			sum.Files, sum.Rows, sum.Bytes = sum.Files+1, sum.Rows+f.Rows, sum.Bytes+int(f.Bytes)
			sum.Tokens, sum.SupervisedTokens = sum.Tokens+f.Tokens, sum.SupervisedTokens+f.SupervisedTokens
		}
		view.Views = append(view.Views, sum)
	}
	for _, f := range e.Files {
		view.Bytes += int(f.Bytes)
	}
	for _, p := range e.Pushes {
		view.Pushes = append(view.Pushes, pushView{p, int(p.SentBytes), int(p.Bytes)})
	}
	for _, reason := range slices.Sorted(maps.Keys(e.Excluded)) {
		view.Excluded = append(view.Excluded, excludedCount{reason, e.Excluded[reason], excludedLink(e.Selection.RunID, reason)})
	}
	if e.State == relabel.ExportRunning && e.Parts > 0 {
		view.Progress = fmt.Sprintf("%d of %d parts", e.PartsDone, e.Parts)
	}
	return view, err
}

// excludedLink lists the trajectories that were excluded for a reason, "" if no list shows them.
func excludedLink(run relabel.ID, reason string) string {
	state := map[string]relabel.TrajectoryState{"trajectory_failed": relabel.Failed, "trajectory_cancelled": relabel.Cancelled}[reason]
	if state == "" {
		return ""
	}
	return "/trajectories?" + url.Values{"run": {run.String()}, "state": {string(state)}}.Encode()
}

func (v *viewer) listExports(w http.ResponseWriter, r *http.Request) error {
	run, err := v.chosenRun(r)
	if err != nil {
		return err
	}
	p, filter := page{Template: "exports", Title: "Exports", Section: "Exports", Follow: "/v1/events"}, relabel.ExportFilter{}
	if run != nil {
		filter.RunID, p.Crumbs, p.Follow = &run.ID, []crumb{home, runCrumb(*run)}, "/v1"+runPath(run.ID)+"/events"
	}
	exports, next, err := v.Store.ListExports(r.Context(), filter, relabel.Page{After: r.URL.Query().Get("after"), Limit: exportsShown})
	if err != nil {
		return err
	}
	views := make([]exportView, len(exports))
	for i, e := range exports {
		if views[i], err = v.viewExport(r, e); err != nil {
			return err
		}
	}
	nextLink, first := pageLinks(r, next)
	p.View = map[string]any{"Run": run, "Exports": views, "Next": nextLink, "First": first}
	return v.render(w, r, p)
}

func (v *viewer) showExport(w http.ResponseWriter, r *http.Request, e relabel.Export) error {
	view, err := v.viewExport(r, e)
	if err != nil {
		return err
	}
	for _, f := range e.Files {
		if strings.HasSuffix(f.Path, ".parquet") {
			view.Shards = append(view.Shards, f)
		}
	}
	if err := v.addContents(r, e, &view); err != nil {
		return err
	}
	options, err := json.MarshalIndent(struct {
		Selection relabel.ExportSelection `json:"selection"`
		Mix       *relabel.Mix            `json:"mix,omitempty"`
		Form      relabel.ExportForm      `json:"form"`
	}{e.Selection, e.Mix, e.Form}, "", "  ")
	if err != nil {
		return err
	}
	view.Options = string(options)
	if mayChange(r) {
		view.Operations = exportOperations(e)
	}
	return v.render(w, r, page{Template: "export", Title: "Export of " + safetext.Plain(view.Run), Section: "Exports", Crumbs: []crumb{{"Exports", "/exports"}},
		Follow: "/v1" + runPath(e.Selection.RunID) + "/events", View: view})
}

// addContents adds the contents of a finished export: counts by iteration, the fill of its bins,
// and the command that downloads its files.
func (v *viewer) addContents(r *http.Request, e relabel.Export, view *exportView) (err error) {
	if view.Selected, err = v.Store.CountSelected(r.Context(), e.ID); err != nil || e.State != relabel.ExportDone {
		return err
	}
	view.Curl = fetchAll(r, e)
	if v.Exports == nil {
		return nil
	}
	m, err := v.Exports.Manifest(r.Context(), e)
	if code := relabel.CodeOf(err); code == relabel.CodeConflict || code == relabel.CodeUnavailable || code == relabel.CodeNotFound {
		view.Apart = safeMessage(err)
		return nil
	}
	view.Manifest = &m
	for i := range view.Views {
		if fill, there := m.Fill[string(view.Views[i].View)]; there {
			view.Views[i].Fill = &fill
		}
	}
	return err
}

// exportOperations are the operations that the page of an export offers.
func exportOperations(e relabel.Export) []operationLink {
	path := exportPath(e.ID)
	switch {
	case e.State == relabel.ExportQueued || e.State == relabel.ExportRunning:
		return []operationLink{{"Cancel", path + "/cancel"}}
	case e.OpenPush() != nil:
		return []operationLink{{"Cancel push", path + "/push/cancel"}}
	case e.State == relabel.ExportDone:
		return []operationLink{{"Push to the Hub…", path + "/push"}, {"Delete", path + "/delete"}}
	}
	return []operationLink{{"Delete", path + "/delete"}}
}

func (v *viewer) cancelExport(_ *http.Request, e relabel.Export, _ url.Values) (operation, error) {
	return post(exportPath(e.ID), "/cancel", "Cancel this export", cancelVerb, "Removes the files that it has written. Labels are kept, and you can start it again."), nil
}

func (v *viewer) deleteExport(_ *http.Request, e relabel.Export, _ url.Values) (operation, error) {
	o := remove(exportPath(e.ID), "Delete this export", "Delete permanently", fmt.Sprintf("Removes its %d files in %s. Trajectories and labels are kept.", len(e.Files), safetext.Plain(e.Directory)))
	o.Back = "/exports"
	return o, nil
}
