package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"relabel"
	"relabel/safetext"
	"relabel/web/show"
)

// How many there are on a page of policies.
const (
	policiesShown   = 30
	tokenizersShown = 50
	runsSpentOn     = 20
	errorsShown     = 10
)

// policyRow is a policy with how it fares.
type policyRow struct {
	relabel.Policy
	Name   string // with the version
	Health relabel.PolicyHealth
	Up     badge
	Flight string // calls in flight, and waiting
}

func (v *viewer) policyRoutes() routes {
	return routes{"GET /policies": v.listPolicies, "GET /policies/{policy}": v.showPolicy}
}

func (v *viewer) listPolicies(w http.ResponseWriter, r *http.Request) error {
	list, next, err := v.Store.ListPolicies(r.Context(), relabel.Page{After: r.URL.Query().Get("after"), Limit: policiesShown})
	if err != nil {
		return err
	}
	rows, err := v.policyRows(r, list)
	if err != nil {
		return err
	}
	nextLink, first := pageLinks(r, next)
	tokenizers, _, err := v.Store.ListTokenizers(r.Context(), relabel.Page{Limit: tokenizersShown})
	if err != nil {
		return err
	}
	var operations []operationLink
	if mayChange(r) {
		operations = []operationLink{{"Register a policy…", "/policies/new"}}
	}
	return v.render(w, r, page{Template: "policies", Title: "Policies", Section: "Policies",
		View: map[string]any{"Policies": rows, "Next": nextLink, "First": first, "Tokenizers": tokenizers, "Operations": operations}})
}

func (v *viewer) policyRows(r *http.Request, list []relabel.Policy) ([]policyRow, error) {
	health, err := v.Store.ListHealth(r.Context(), list)
	if err != nil {
		return nil, err
	}
	rows := make([]policyRow, len(list))
	for i, p := range list {
		rows[i] = policyRow{Policy: p, Name: nameOf(p), Health: health[i], Up: upOf(health[i]), Flight: flightOf(health[i])}
	}
	return rows, nil
}

// upOf says whether a policy's addresses are taken to be up, by the workers that ask them.
func upOf(h relabel.PolicyHealth) badge {
	asked, down := 0, 0
	for _, a := range h.Addresses {
		asked += a.Workers
		down += a.DownFor
	}
	switch {
	case asked == 0:
		return badge{"quiet", "–", "not in use"}
	case down == 0:
		return badge{"good", "✓", "up"}
	case down == asked:
		return badge{"bad", "✗", "down"}
	}
	return badge{"bad", "✗", "partly down"}
}

func flightOf(h relabel.PolicyHealth) string {
	flight, limit, waiting, asked := 0, 0, 0, 0
	for _, a := range h.Addresses {
		flight += a.InFlight
		limit += a.Limit
		waiting += a.WaitingActs + a.WaitingRaised + a.WaitingLabels
		asked += a.Workers
	}
	if asked == 0 {
		return "–"
	}
	text := fmt.Sprintf("%d of %d", flight, limit)
	if waiting > 0 {
		text += fmt.Sprintf(", %d wait", waiting)
	}
	return text
}

// policyView is one version of a policy.
type policyView struct {
	policyRow
	Versions    []relabel.Policy
	Models      []modelRow
	Spent       []relabel.RunSpending
	Errors      []errorRow
	Currency    string
	Next, First string // of what was spent
}

// modelRow is a model that answered; Changed where another had answered there before.
type modelRow struct {
	relabel.ModelSeen
	Changed bool
}

// errorRow is a call that came to nothing.
type errorRow struct {
	relabel.Call
	Body *show.Body
	Link string // of the turn it was for, "" where it was for none
}

func (v *viewer) showPolicy(w http.ResponseWriter, r *http.Request) error {
	p, err := v.policyAt(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	rows, err := v.policyRows(r, []relabel.Policy{p})
	if err != nil {
		return err
	}
	view := policyView{policyRow: rows[0]}
	if p.Price != nil {
		view.Currency = p.Price.Currency
	}
	if view.Versions, err = v.Store.ListVersions(ctx, p.Name); err != nil {
		return err
	}
	if view.Models, err = v.models(r, p.ID); err != nil {
		return err
	}
	spent, next, err := v.Store.ListPolicySpending(ctx, p.ID, relabel.Page{After: r.URL.Query().Get("after"), Limit: runsSpentOn})
	if err != nil {
		return err
	}
	view.Spent = spent
	view.Next, view.First = pageLinks(r, next)
	failed, err := v.Store.ListFailedCalls(ctx, p.ID, errorsShown)
	if err != nil {
		return err
	}
	for _, c := range failed {
		view.Errors = append(view.Errors, viewError(c))
	}
	return v.render(w, r, page{Template: "policy", Title: "Policy " + safetext.Plain(view.Name), Section: "Policies", Crumbs: []crumb{{"Policies", "/policies"}}, View: view})
}

// policyAt finds the policy of an address: by id, by name (the newest version) or as
// name@version.
func (v *viewer) policyAt(r *http.Request) (relabel.Policy, error) {
	word := r.PathValue("policy")
	if id, err := uuid.Parse(word); err == nil {
		return v.Store.FindPolicy(r.Context(), id)
	}
	return v.Store.FindPolicyByName(r.Context(), word)
}

func (v *viewer) models(r *http.Request, policy relabel.ID) ([]modelRow, error) {
	seen, err := v.Store.ListModels(r.Context(), policy)
	rows := make([]modelRow, len(seen))
	for i, m := range seen {
		rows[i] = modelRow{m, i > 0 && seen[i-1].BaseURL == m.BaseURL}
	}
	return rows, err
}

func viewError(c relabel.Call) errorRow {
	row := errorRow{Call: c}
	if text := strings.TrimSpace(string(c.ErrorBody)); text != "" {
		row.Body = new(show.Whole(text))
	}
	if c.TrajectoryID != nil {
		row.Link = "/trajectories/" + c.TrajectoryID.String()
		if c.T > 0 {
			row.Link += fmt.Sprintf("#t%d", c.T)
		}
	}
	return row
}
