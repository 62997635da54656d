package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
	"relabel/web/show"
)

// Sizes of the lists on pages of policies.
const (
	policiesShown   = 30
	tokenizersShown = 50
	runsSpentOn     = 20
	errorsShown     = 10
)

// policyRow is a policy with its health.
type policyRow struct {
	relabel.Policy
	Name   string // with the version
	Health relabel.PolicyHealth
	Up     badge
	Flight string // calls in flight, and waiting
}

func (v *viewer) policyRoutes() routes {
	to := routes{"GET /policies": v.listPolicies, "GET /policies/{policy}": of(v.policyOf, v.showPolicy)}
	v.addOperation(to, "/policies/new", v.createPolicy)
	return to
}

func (v *viewer) listPolicies(w http.ResponseWriter, r *http.Request) error {
	list, next, err := v.Store.ListPolicies(r.Context(), relabel.Page{After: r.URL.Query().Get("after"), Limit: policiesShown})
	if err != nil {
		return err
	}
	rows, err := v.policyRows(r.Context(), list)
	if err != nil {
		return err
	}
	tokenizers, _, err := v.Store.ListTokenizers(r.Context(), relabel.Page{Limit: tokenizersShown})
	if err != nil {
		return err
	}
	var operations []operationLink
	if mayChange(r) {
		operations = []operationLink{{"Register a policy…", "/policies/new"}}
	}
	nextLink, first := pageLinks(r, next)
	return v.render(w, r, page{Template: "policies", Title: "Policies", Section: "Policies",
		View: map[string]any{"Policies": rows, "Next": nextLink, "First": first, "Tokenizers": tokenizers, "Operations": operations}})
}

func (v *viewer) policyRows(ctx context.Context, list []relabel.Policy) ([]policyRow, error) {
	health, err := v.Store.ListHealth(ctx, list)
	rows := make([]policyRow, len(health))
	for i, h := range health {
		rows[i] = policyRow{Policy: list[i], Name: nameOf(list[i]), Health: h, Up: upOf(h), Flight: flightOf(h)}
	}
	return rows, err
}

// upOf is the state of a policy's addresses, as its workers report it.
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

type policyView struct {
	policyRow
	Versions    []relabel.Policy
	Training    relabel.Training
	Models      []modelRow
	Checks      []relabel.WeightCheck // of its weights, the newest
	Spent       []relabel.RunSpending
	Errors      []errorRow
	Currency    string
	Next, First string // of what was spent
}

// modelRow is a model that answered; Changed if another one answered at its address before.
type modelRow struct {
	relabel.ModelSeen
	Changed bool
}

type errorRow struct {
	relabel.Call
	Body *show.Body
	Link string // to the turn that needed it, "" without one
}

func (v *viewer) showPolicy(w http.ResponseWriter, r *http.Request, p relabel.Policy) error {
	rows, err := v.policyRows(r.Context(), []relabel.Policy{p})
	if err != nil {
		return err
	}
	view := policyView{policyRow: rows[0]}
	if p.Price != nil {
		view.Currency = p.Price.Currency
	}
	l := load{ctx: r.Context()}
	read(&l, &view.Versions, v.Store.ListVersions, p.Name)
	read(&l, &view.Training, v.training, p.ID)
	read(&l, &view.Models, v.models, p.ID)
	read(&l, &view.Errors, v.failedCalls, p.ID)
	read(&l, &view.Checks, v.weightChecks, p.ID)
	if l.err != nil {
		return l.err
	}
	spent, next, err := v.Store.ListPolicySpending(l.ctx, p.ID, relabel.Page{After: r.URL.Query().Get("after"), Limit: runsSpentOn})
	if err != nil {
		return err
	}
	view.Spent = spent
	view.Next, view.First = pageLinks(r, next)
	return v.render(w, r, page{Template: "policy", Title: "Policy " + safetext.Plain(view.Name), Section: "Policies", Crumbs: []crumb{{"Policies", "/policies"}}, View: view})
}

func (v *viewer) training(ctx context.Context, policy relabel.ID) (relabel.Training, error) {
	chain, err := v.Store.ListTrainingChain(ctx, policy)
	if err != nil {
		return relabel.Training{}, err
	}
	return evaluation.Training(chain), nil
}

func (v *viewer) models(ctx context.Context, policy relabel.ID) ([]modelRow, error) {
	seen, err := v.Store.ListModels(ctx, policy)
	rows := make([]modelRow, len(seen))
	for i, m := range seen {
		rows[i] = modelRow{m, i > 0 && seen[i-1].BaseURL == m.BaseURL}
	}
	return rows, err
}

func (v *viewer) failedCalls(ctx context.Context, policy relabel.ID) (rows []errorRow, err error) {
	calls, err := v.Store.ListFailedCalls(ctx, policy, errorsShown)
	for _, c := range calls {
		row := errorRow{Call: c}
		if text := strings.TrimSpace(string(c.ErrorBody)); text != "" {
			row.Body = new(show.Whole(text))
		}
		if c.TrajectoryID != nil {
			row.Link = turnLink(*c.TrajectoryID, c.T)
		}
		rows = append(rows, row)
	}
	return rows, err
}

// checksShown is the number of checks of weights on a policy's page.
const checksShown = 10

func (v *viewer) weightChecks(ctx context.Context, policy relabel.ID) ([]relabel.WeightCheck, error) {
	return v.Store.ListWeightChecks(ctx, relabel.WeightFilter{PolicyID: &policy}, checksShown)
}
