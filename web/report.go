package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
	"relabel/web/chart"
)

// reportView is the page of a run's evaluations and samples.
type reportView struct {
	Run          relabel.Run
	List         evaluationList
	Comparisons  []comparisonRow
	Samples      []relabel.Results
	Repositories []repositoryTable
	Charts       []chart.Chart
	Operations   []operationLink
}

// evaluationList are evaluations of which two can be chosen for a comparison.
type evaluationList struct {
	Evaluations []relabel.Results
	OfRuns      bool   // of several runs
	A, B        string // the ids that are chosen at first, "" for none
}

// propose chooses the first two evaluations on one benchmark, the first one with those after it.
func (l *evaluationList) propose() {
	for i, a := range l.Evaluations {
		for _, b := range l.Evaluations[i+1:] {
			if a.BenchmarkID == b.BenchmarkID {
				l.A, l.B = a.IterationID.String(), b.IterationID.String()
				return
			}
		}
	}
}

// comparisonRow is a comparison with the names of its evaluations.
type comparisonRow struct {
	relabel.Comparison
	Name, With string
}

// repositoryTable has the results of the evaluations on one benchmark by repository.
type repositoryTable struct {
	BenchmarkID relabel.ID
	Benchmark   string
	Evaluations []relabel.Results
	Rows        []repositoryRow
}

// repositoryRow has one result for each evaluation.
type repositoryRow struct {
	Repository string
	Tasks      int
	Results    []*relabel.RepositoryResults // nil: the evaluation has no trajectory there any more
}

func (v *viewer) reportRoutes() routes {
	return routes{
		"GET /runs/{id}/report":               of(v.runOf, v.showReport),
		"GET /runs/{id}/report.csv":           of(v.runOf, v.sendReport),
		"GET /iterations/comparison":          v.chooseComparison,
		"GET /iterations/{id}/comparison":     of(v.iterationOf, v.compareEvaluations),
		"GET /iterations/{id}/comparison.csv": of(v.iterationOf, v.sendComparison),
	}
}

func (v *viewer) evaluationReport(ctx context.Context, run relabel.ID) (relabel.EvaluationReport, error) {
	all, err := v.Store.ListIterations(ctx, run)
	if err != nil {
		return relabel.EvaluationReport{}, err
	}
	return evaluation.Report(ctx, v.Store, run, all)
}

func (v *viewer) showReport(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	report, err := v.evaluationReport(r.Context(), run.ID)
	if err != nil {
		return err
	}
	view := reportView{Run: run, List: evaluationList{Evaluations: newestFirst(report.Evaluations)}, Samples: newestFirst(report.Samples)}
	view.List.propose()
	number := map[relabel.ID]int{}
	for _, e := range report.Evaluations {
		number[e.IterationID] = e.Number
	}
	for _, c := range newestFirst(report.Comparisons) {
		view.Comparisons = append(view.Comparisons, comparisonRow{c, fmt.Sprintf("evaluate %d", number[c.IterationID]), fmt.Sprintf("evaluate %d", number[c.WithID])})
	}
	for i, of := range byBenchmark(report.Evaluations) {
		name := benchmarkWord(of[0].Benchmark, of[0].BenchmarkID)
		view.Charts = append(view.Charts, chart.Evaluations(fmt.Sprintf("benchmark-%d", i+1), "Benchmark "+safetext.Plain(name), of))
		view.Repositories = append(view.Repositories, repositoriesOf(of))
	}
	view.Charts = append(view.Charts, chart.Samples(report.Samples))
	if mayChange(r) && run.DeletingAt == nil {
		view.Operations = []operationLink{{"Evaluate a checkpoint…", runPath(run.ID) + "/start?kind=evaluate"}, {"Sample…", runPath(run.ID) + "/start?kind=sample"}}
	}
	return v.render(w, r, page{Template: "report", Title: "Evaluations of " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{home, runCrumb(run)},
		Scripts: []string{"uplot.js", "chart.js"}, Follow: "/v1" + runPath(run.ID) + "/events", View: view})
}

// newestFirst is a list in reverse.
func newestFirst[T any](list []T) []T {
	reversed := make([]T, 0, len(list))
	for i := range list {
		reversed = append(reversed, list[len(list)-1-i])
	}
	return reversed
}

// byBenchmark groups evaluations by benchmark, in the order of the first evaluation on each.
func byBenchmark(all []relabel.Results) (groups [][]relabel.Results) {
	at := map[relabel.ID]int{}
	for _, e := range all {
		i, known := at[e.BenchmarkID]
		if !known {
			i = len(groups)
			at[e.BenchmarkID] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// repositoriesOf lists the repositories of evaluations on one benchmark. All have the same, unless
// their run is being deleted.
func repositoriesOf(all []relabel.Results) repositoryTable {
	t := repositoryTable{BenchmarkID: all[0].BenchmarkID, Benchmark: benchmarkWord(all[0].Benchmark, all[0].BenchmarkID), Evaluations: all}
	at := map[string]int{}
	for i, e := range all {
		for k := range e.Repositories {
			r := &e.Repositories[k]
			n, known := at[r.Repository]
			if !known {
				n = len(t.Rows)
				at[r.Repository] = n
				t.Rows = append(t.Rows, repositoryRow{Repository: r.Repository, Results: make([]*relabel.RepositoryResults, len(all))})
			}
			t.Rows[n].Results[i], t.Rows[n].Tasks = r, max(t.Rows[n].Tasks, r.Tasks)
		}
	}
	return t
}

// sendReport sends a run's report as CSV, by repository if the query says so (?by=repository).
func (v *viewer) sendReport(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	report, err := v.evaluationReport(r.Context(), run.ID)
	if err != nil {
		return err
	}
	switch by := r.URL.Query().Get("by"); by {
	case "":
		heads, rows := evaluation.Table(report)
		return sendCSV(w, "report", heads, rows)
	case "repository":
		heads, rows := evaluation.RepositoryTable(report)
		return sendCSV(w, "repositories", heads, rows)
	default:
		return relabel.Errorf(relabel.CodeInvalid, "is %.100q: give repository, or omit it", safetext.Plain(by)).On("by")
	}
}

// sendCSV sends a table as a file NAME.csv.
func sendCSV(w http.ResponseWriter, name string, heads []string, rows [][]any) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+".csv"))
	_ = evaluation.WriteCSV(w, heads, rows) // the client may have disconnected
	return nil
}

func comparisonPath(iteration, with relabel.ID) string {
	return iterationPath(iteration) + "/comparison?" + url.Values{"with": {with.String()}}.Encode()
}
