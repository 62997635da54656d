package web

import (
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
	"relabel/web/chart"
)

func trajectoryOperations(v trajectoryView) (links []operationLink) {
	if v.relabels() {
		links = append(links, operationLink{"Relabel…", v.Base() + "/relabel"})
	}
	if v.State == relabel.Done && v.Run.CheckRegrade() == nil {
		links = append(links, operationLink{"Grade again…", v.Base() + "/verify"})
	}
	return links
}

func (v trajectoryView) relabels() bool {
	return v.State == relabel.Done && v.Trajectory.Kind == relabel.Collect && v.Turns > 0
}

func (v *viewer) relabelTrajectory(r *http.Request, view trajectoryView, chosen url.Values) (operation, error) {
	o, err := v.relabeling(r.Context(), view.Base(), view.InstanceID, chosen,
		"Asks for its action at each turn. The first labels are kept; exports can use these instead, and each turn shows them.")
	o.Costs = []cost{{"calls", chart.Grouped(int64(len(view.Heads))), "at most one per turn that it has not answered yet"}}
	if t := view.Tokens; t.PromptTokens > 0 {
		o.Costs = append(o.Costs, cost{"tokens", about(float64(t.PromptTokens + t.CompletionTokens)), "as many as its executed actions used, prompt and completion"})
	}
	if !view.relabels() {
		o.Notes = append(o.Notes, "The server will refuse this: the trajectory is not done or has no turns.")
	}
	return o, err
}

func (v *viewer) verifyTrajectory(r *http.Request, view trajectoryView, _ url.Values) (operation, error) {
	return v.regrading(r.Context(), "Grade the submission for "+view.InstanceID+" again", view.RunID, api.Regrade{Trajectory: &view.ID, All: true}, view.Base())
}
