package web_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"relabel"
	"relabel/store/storetest"
	"relabel/web/webtest"
)

func TestTheLocalisationPageHasTheFiguresOfRankedLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 3)
	run := "/runs/" + d.Run.ID.String()
	contains(t, s.get(200, run), `href="`+run+`/localisation"`)
	contains(t, s.get(200, run+"/localisation"), "sample 1", "–") // nothing is done
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[0].ID, "w"), 1, "a.py::f", "b.go::g")
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[1].ID, "w"), 0.6131, "a.py::f", "x.py")
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[2].ID, "w"), 0)

	page := html.UnescapeString(s.get(200, run+"/localisation"))
	contains(t, page, "2 of 3", "3 of 6", `"successful tool calls"`, "Recall@3", "sample 1, go", "sample 1, python", "53.8 [0.0, 100.0]", "functions", `"localise-functions"`)
	if strings.Contains(page, "Compared on the tasks") {
		t.Error("it compares one iteration")
	}

	second := relabel.Iteration{ID: relabel.NewID(), RunID: d.Run.ID, Number: 2, Kind: relabel.Sample, StudentID: d.Student.ID, Generations: 1}
	again := relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[1].ID, Kind: relabel.Sample, Executors: "ssssss"}
	s.must(s.store.CreateIteration(t.Context(), relabel.PlannedIteration{Iteration: second, Trajectories: []relabel.Trajectory{again}}))
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, again.ID, "w"), 0)
	contains(t, s.get(200, run+"/localisation"), "sample 2 minus sample 1", "sample 2 minus sample 1: score -61.3", "-100.0", "the one before it of the same kind")
	with := "?with=" + second.ID.String()
	contains(t, s.get(200, run+"/localisation"+with), "sample 1 minus sample 2", "against the chosen one", "/v1"+run+"/localisation"+with, run+"/localisation.csv"+with)
	contains(t, s.get(200, run+"/localisation.csv"), "functions_ndcg_at_5_low", "difference_files_map", "python")
	s.get(400, run+"/localisation?with=x")
	s.get(404, run+"/localisation?with="+relabel.NewID().String())

	var report relabel.LocalisationReport
	s.must(json.Unmarshal([]byte(s.get(200, "/v1"+run+"/localisation"+with)), &report))
	if len(report.Iterations) != 2 || report.Iterations[0].Functions.Tasks != 3 || len(report.Comparisons) != 1 || report.Comparisons[0].Functions.MRR.Mean != 1 {
		t.Errorf("%+v", report)
	}
	s.get(422, "/v1"+run+"/localisation?with="+relabel.NewID().String())
	s.get(422, "/v1"+run+"/localisation?with=x")

	p := webtest.Open(t, s.URL+run+"/localisation")
	p.Wait("document.querySelector('.charts canvas')")
	p.Look("localisation")
}

func TestARunThatRepairsHasNoFiguresOfLocalisation(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.Seed(t, s.store, 1)
	run := "/runs/" + d.Run.ID.String()
	if strings.Contains(s.get(200, run), run+"/localisation") {
		t.Error("its page leads to figures that it does not have")
	}
	contains(t, s.get(200, run+"/localisation"), "no tasks to localise issues")
}

func TestScoresTakeThePlaceOfResolved(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := storetest.SeedLocalise(t, s.store, 2)
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[0].ID, "w"), 0.5, "a.py::f")
	storetest.Localise(t, s.store, storetest.Claim(t, s.store, d.Trajectories[1].ID, "w"), 0)
	run, iteration := "/runs/"+d.Run.ID.String(), "/iterations/"+d.Iteration.ID.String()
	page := s.get(200, run)
	contains(t, page, `<th class="n">mean score</th><th class="n">with a hit</th>`, `<td class="n">0.25</td>`, "1 of 2 (50%)", "those without a hit", "Mean score", "Answers with a hit")
	if strings.Contains(page, "Resolved, of those") || strings.Contains(page, ">resolved</th>") {
		t.Error("the run has a figure of resolved trajectories")
	}
	contains(t, s.get(200, "/"), `<th class="n">mean score</th>`)
	contains(t, s.get(200, iteration), "<dt>mean score</dt>", "<dt>answers with a hit</dt>", "hit=true", "score 0.50", `data-label="score"`, "1 hit<")
	contains(t, s.get(200, run+"/tasks"), "scored, with a hit", "scored, without a hit")
	list := s.get(200, "/trajectories?hit=true&score_min=0.5&sort=highest_score")
	contains(t, list, "<b>1</b> of", d.Tasks[0].InstanceID, `name="score_min"`, "lowest score")
	contains(t, s.get(200, "/v1/trajectories?hit=false&score_max=0"), d.Tasks[1].InstanceID, `"total":1`)
}

func TestTheFormOfAnExportHasTheFiltersOfItsTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	repair, d := storetest.Seed(t, s.store, 1), storetest.SeedLocalise(t, s.store, 1)
	for run, has := range map[relabel.ID]bool{repair.Run.ID: false, d.Run.ID: true} {
		page := s.get(200, "/runs/"+run.String()+"/export")
		if strings.Contains(page, `name="min_score"`) != has || strings.Contains(page, `name="hit"`) != has || strings.Contains(page, `name="resolved"`) == has {
			t.Errorf("localise: %v\n%s", has, page)
		}
	}
	contains(t, html.UnescapeString(s.get(200, "/runs/"+d.Run.ID.String()+"/export?min_score=0.5&hit=true")), `"hit":true,"min_score":0.5`, "with a score of 0.5 or more")
}
