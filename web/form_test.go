package web_test

import (
	"html"
	"reflect"
	"strings"
	"testing"

	"relabel"
	"relabel/api"
	"relabel/store/storetest"
)

// inputsOf names the inputs that the form of a request needs, outer.inner for nested objects.
func inputsOf(t reflect.Type, path string) (names []string) {
	for _, f := range api.Fields(t) {
		if f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct {
			names = append(names, inputsOf(f.Type.Elem(), path+f.Name+".")...)
			continue
		}
		names = append(names, path+f.Name)
	}
	return names
}

// TestEveryOptionOfTheRESTInterfaceIsOnItsForm compares the fields of requests with the inputs
// of the forms that send them. Of several queries, each field is in one form.
func TestEveryOptionOfTheRESTInterfaceIsOnItsForm(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := s.begin("forms", "s")
	mixed := s.run
	mixed.ID, mixed.Name, mixed.Recipe, mixed.Beta, mixed.Rho = relabel.NewID(), "mixed", relabel.AggreVaTe, nil, &relabel.PaperRho
	s.must(s.store.CreateRun(t.Context(), mixed))
	localise := storetest.SeedLocalise(t, s.store, 1)
	run, iteration, trajectory := "/runs/"+s.run.ID.String(), "/iterations/"+s.iteration.ID.String(), "/trajectories/"+all[0].ID.String()
	for _, c := range []struct {
		path    string
		request any
		queries []string
	}{
		{"/runs/new", api.NewRun{}, []string{"?taskset=" + s.run.TasksetID.String(), "?taskset=" + localise.Taskset.ID.String()}},
		{"/policies/new", api.NewPolicy{}, []string{""}},
		{"/benchmarks/new", api.NewBenchmark{}, []string{""}},
		{run + "/scheduling", api.SchedulingPatch{}, []string{""}},
		{"", api.NewIteration{}, []string{run + "/start", run + "/start?kind=evaluate", "/runs/" + mixed.ID.String() + "/start"}},
		{"", api.NewExport{}, []string{run + "/export?views=tree&views=linear&views=preference", "/runs/" + localise.Run.ID.String() + "/export"}},
		{run + "/verify", api.Regrade{}, []string{""}},
		{run + "/verify/cancel", api.CancelRegrade{}, []string{""}},
		{run + "/scores", api.NewScoring{}, []string{""}},
		{run + "/scores/cancel", api.CancelScorings{}, []string{""}},
		{run + "/judgings", api.NewJudging{}, []string{""}},
		{run + "/judgings/cancel", api.CancelJudgings{}, []string{""}},
		{run + "/pause", api.NewPause{}, []string{""}},
		{iteration + "/pause", api.NewPause{}, []string{""}},
		{iteration + "/retry", api.Retry{}, []string{""}},
		{iteration + "/relabel", api.NewRelabeling{}, []string{""}},
		{trajectory + "/relabel", api.NewRelabeling{}, []string{""}},
		{trajectory + "/reviews/new", api.NewReview{}, []string{""}},
	} {
		page := ""
		for _, query := range c.queries {
			page += s.get(200, c.path+query)
		}
		for _, name := range inputsOf(reflect.TypeOf(c.request), "") {
			if name == "run" { // the address says it
				continue
			}
			if !strings.Contains(page, ` name="`+name+`"`) {
				t.Errorf("%s has no input for %s", c.path, name)
			}
		}
		contains(t, page, `id="curl"`)
	}
}

func TestARunIsDescribedByItsForm(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("earlier", "s")
	ask := func(status int, query string) string {
		return html.UnescapeString(s.get(status, "/runs/new?part=operation"+query))
	}
	contains(t, ask(200, "&name=second&recipe=aggrevate&teacher=earlier-teacher&limits.max_turns=50&rho.kind=list&rho.values=4,+8&prompts.system=a%0D%0A+b&instances=x%0D%0Ay&seed=7&webhook.url=http://h/&budget.cost=1.5"),
		`"name":"second","recipe":"aggrevate","prompts":{"system":"a\n b"}`, `"instances":["x","y"]`, `"rho":{"kind":"list","values":[4,8]}`, `"limits":{"max_turns":50}`, `"budget":{"cost":1.5}`, `"webhook":{"url":"http://h/"}`, `"seed":7}`)
	page := ask(400, "&name=third&limits.max_turns=many&limits.verify_seconds=0&seed=x")
	contains(t, page, `"name":"third"`, `value="many" step="any" min="1" max="1000" aria-invalid="true"`, `is "many": give a whole number`, `is "x": give a whole number`)
}

func TestSchedulingSendsChangesAlone(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.begin("scheduled", "s")
	_, err := s.store.SetScheduling(t.Context(), s.run.ID, relabel.SchedulingChange{Priority: new(3), Budget: &relabel.Budget{Tokens: 1000}})
	s.must(err)
	ask := func(query string) string {
		return html.UnescapeString(s.get(200, "/runs/"+s.run.ID.String()+"/scheduling"+query))
	}
	contains(t, ask(""), `name="priority" type="number" value="3"`, `name="budget.tokens" type="number" value="1000"`, "-d '{}'")
	contains(t, ask("?priority=5&quota=0&budget.tokens=1000"), `-d '{"priority":5}'`)
	contains(t, ask("?priority=3&quota=2"), `-d '{"quota":2,"budget":{}}'`)
}
