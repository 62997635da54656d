package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/api"
	"relabel/labelrule"
	"relabel/safetext"
)

// labelRulesView compares label rules on a run's stored labels.
type labelRulesView struct {
	Run relabel.Run
	relabel.LabelSimulation
	Totals []labelRuleRow
	Rows   []labelRuleRow // by iteration
	Query  template.URL   // of the same report over REST
	// Asked are the fields of the form: the compared rules and an empty one.
	Asked []string
}

// labelRuleRow are the figures of a rule.
type labelRuleRow struct {
	relabel.SimulatedRule
	relabel.SimulatedLabels
	Number int
	Link   string
}

// Text formats a figure, or a dash if there is none.
func (labelRuleRow) Text(format string, x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, *x)
}

func (v *viewer) labelRuleRoutes() routes {
	return routes{"GET /runs/{id}/label-rules": of(v.runOf, v.showLabelRules), "GET /runs/{id}/label-rules.csv": of(v.runOf, v.sendLabelRules)}
}

// simulation compares the rules that the query names, or the default ones.
func (v *viewer) simulation(r *http.Request, run relabel.Run) (relabel.LabelSimulation, error) {
	asked := slices.DeleteFunc(slices.Clone(r.URL.Query()["rule"]), func(rule string) bool { return rule == "" })
	if err := api.Validate(api.LabelRuleQuery{Rules: asked}, api.LabelRuleQuery{}, ""); err != nil {
		return relabel.LabelSimulation{}, err
	}
	return labelrule.Report(r.Context(), v.Store, run, asked)
}

// sendLabelRules sends the comparison as CSV.
func (v *viewer) sendLabelRules(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	simulation, err := v.simulation(r, run)
	if err != nil {
		return err
	}
	heads, rows := labelrule.Table(simulation)
	return sendCSV(w, "label-rules", heads, rows)
}

func (v *viewer) showLabelRules(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	simulation, err := v.simulation(r, run)
	if err != nil {
		return err
	}
	query := url.Values{}
	for _, rule := range simulation.Rules {
		query.Add("rule", string(rule.Rule))
	}
	view := labelRulesView{Run: run, LabelSimulation: simulation, Query: template.URL(query.Encode())}
	for _, rule := range simulation.Rules {
		view.Asked = append(view.Asked, string(rule.Rule))
		view.Totals = append(view.Totals, labelRuleRow{SimulatedRule: rule, SimulatedLabels: rule.Total})
		for _, it := range rule.Iterations {
			view.Rows = append(view.Rows, labelRuleRow{SimulatedRule: rule, SimulatedLabels: it.SimulatedLabels, Number: it.Number, Link: iterationPath(it.IterationID)})
		}
	}
	view.Asked = append(view.Asked, "")
	return v.render(w, r, page{Template: "labelrules", Title: "Label rules on " + safetext.Plain(run.Name), Section: "Home",
		Crumbs: []crumb{home, runCrumb(run)}, View: view})
}
