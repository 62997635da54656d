package web

import (
	"net/http"
	"time"

	"relabel"
)

const auditShown = 100

type auditView struct {
	Entries                []relabel.AuditEntry
	Token, Resource, Since string // the filter, as given
	Next, First            string
}

func (v *viewer) auditRoutes() routes { return routes{"GET /audit": v.showAudit} }

// showAudit lists changes, for callers with full access.
func (v *viewer) showAudit(w http.ResponseWriter, r *http.Request) error {
	if !mayChange(r) {
		return relabel.Errorf(relabel.CodeForbidden, "Your token may not read the audit log.")
	}
	q := r.URL.Query()
	view := auditView{Token: q.Get("token_name"), Resource: q.Get("resource"), Since: q.Get("since")}
	filter := relabel.AuditFilter{Token: view.Token, Resource: view.Resource}
	if view.Since != "" {
		since, err := time.Parse(time.DateOnly, view.Since)
		if err != nil {
			return relabel.Errorf(relabel.CodeInvalid, "not a day, as 2026-01-31").On("since")
		}
		filter.Since = since
	}
	entries, next, err := v.Store.ListAudit(r.Context(), filter, relabel.Page{After: q.Get("after"), Limit: auditShown})
	if err != nil {
		return err
	}
	view.Entries = entries
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "audit", Title: "Audit log", Section: "Audit", View: view})
}
