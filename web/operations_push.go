package web

import (
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
	"relabel/web/show"
)

func (v *viewer) pushExport(_ *http.Request, e relabel.Export, chosen url.Values) (operation, error) {
	body, f := api.PushExport{}, form{chosen: chosen}
	if err := f.read(&body); err != nil {
		return operation{}, err
	}
	bytes := int64(0)
	for _, file := range e.Files {
		bytes += file.Bytes
	}
	o := operation{Title: "Push this export to the Hugging Face Hub", Verb: "Push", Back: exportPath(e.ID), Fields: f.fields(body, nil),
		Call: call{http.MethodPost, "/v1" + exportPath(e.ID) + "/push", body},
		Notes: []string{"A worker uploads the files and makes one commit, with the token of its environment (HF_TOKEN). A repository that does not exist is created private. " +
			"After a failure, the same push continues: what the Hub has is not sent again."},
		Costs: []cost{{"upload", show.Size(int(bytes)), fmt.Sprintf("%d files, less what the Hub has", len(e.Files))}}}
	if e.State != relabel.ExportDone {
		o.Notes = append(o.Notes, fmt.Sprintf("The server will refuse this: the export is %s.", e.State))
	}
	if open := e.OpenPush(); open != nil {
		o.Notes = append(o.Notes, "It is being pushed to "+open.Destination+".")
	}
	return o, nil
}

func (v *viewer) cancelPush(_ *http.Request, e relabel.Export, _ url.Values) (operation, error) {
	return post(exportPath(e.ID), "/push/cancel", "Cancel the push of this export", cancelVerb, "What was uploaded stays on the Hub without a commit. The next push uses it."), nil
}
