package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
	"relabel/web/chart"
)

// scalingOffers is the number of newest runs that the page of scaling offers.
const scalingOffers = 40

// scalingView is the page that compares runs by the training of their students.
type scalingView struct {
	Report     relabel.ScalingReport
	Axis       relabel.ScalingAxis
	Charts     []chart.Chart
	Offers     []relabel.Run // the chosen runs, then the newest others
	Benchmarks []relabel.ScalingBenchmark
	Query      template.URL // of the same report over REST
}

// Chosen reports whether a run is in the report.
func (v scalingView) Chosen(run relabel.ID) bool {
	return slices.ContainsFunc(v.Report.Runs, func(s relabel.ScalingSeries) bool { return s.RunID == run })
}

// On is the value of a point on the chosen axis.
func (v scalingView) On(e relabel.EffectiveSamples) float64 { return e.On(v.Axis) }

// Points counts the points of all runs.
func (v scalingView) Points() (n int) {
	for _, s := range v.Report.Runs {
		n += len(s.Points)
	}
	return n
}

func (v *viewer) scalingRoutes() routes {
	return routes{"GET /scaling": v.showScaling, "GET /scaling.csv": v.sendScaling}
}

func (v *viewer) showScaling(w http.ResponseWriter, r *http.Request) error {
	view := scalingView{Axis: relabel.AxisTrajectories}
	switch axis := relabel.ScalingAxis(r.URL.Query().Get("axis")); axis {
	case "":
	case relabel.AxisTrajectories, relabel.AxisStates:
		view.Axis = axis
	default:
		return relabel.Errorf(relabel.CodeInvalid, "is %.100q: give trajectories or states", safetext.Plain(string(axis))).On("axis")
	}
	runs, err := v.runsOf(r)
	if err != nil {
		return err
	}
	if view.Report, err = v.scalingReport(r, runs); err != nil {
		return err
	}
	if view.Offers, err = v.runsToCompare(r.Context(), runs); err != nil {
		return err
	}
	view.Charts = []chart.Chart{chart.Scaling(view.Report, view.Axis)}
	query := url.Values{}
	for _, run := range runs {
		query.Add("runs", run.ID.String())
	}
	if of := view.Report; of.BenchmarkID != nil {
		view.Benchmarks = append([]relabel.ScalingBenchmark{{BenchmarkID: *of.BenchmarkID, Benchmark: of.Benchmark}}, of.OtherBenchmarks...)
		query.Set("benchmark", of.BenchmarkID.String())
	}
	view.Query = template.URL(query.Encode())
	return v.render(w, r, page{Template: "scaling", Title: "Sample scaling", Section: "Home", Crumbs: []crumb{home}, Scripts: []string{"uplot.js", "chart.js"}, View: view})
}

// runsOf finds the runs that the query names, at most relabel.MaxScalingRuns.
func (v *viewer) runsOf(r *http.Request) (runs []relabel.Run, err error) {
	words := r.URL.Query()["runs"]
	if len(words) > relabel.MaxScalingRuns {
		return nil, relabel.Errorf(relabel.CodeInvalid, "are %d: give at most %d", len(words), relabel.MaxScalingRuns).On("runs")
	}
	for _, word := range words {
		run, err := v.findRun(r.Context(), word)
		if relabel.CodeOf(err) == relabel.CodeNotFound {
			return nil, relabel.Errorf(relabel.CodeInvalid, "there is no run %.100q", safetext.Plain(word)).On("runs")
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func (v *viewer) scalingReport(r *http.Request, runs []relabel.Run) (relabel.ScalingReport, error) {
	benchmark, err := inQuery(r, "benchmark", v.Store.FindBenchmark, v.Store.FindBenchmarkByName)
	if err != nil {
		return relabel.ScalingReport{}, err
	}
	var id *relabel.ID
	if benchmark != nil {
		id = &benchmark.ID
	}
	return evaluation.Scaling(r.Context(), v.Store, runs, id)
}

// runsToCompare lists the chosen runs, then the newest others.
func (v *viewer) runsToCompare(ctx context.Context, chosen []relabel.Run) ([]relabel.Run, error) {
	newest, _, err := v.Store.ListRuns(ctx, relabel.Page{Limit: scalingOffers})
	offers := slices.Clone(chosen)
	for _, run := range newest {
		if !slices.ContainsFunc(chosen, func(c relabel.Run) bool { return c.ID == run.ID }) {
			offers = append(offers, run)
		}
	}
	return offers, err
}

// sendScaling sends the report as CSV.
func (v *viewer) sendScaling(w http.ResponseWriter, r *http.Request) error {
	runs, err := v.runsOf(r)
	if err != nil {
		return err
	}
	report, err := v.scalingReport(r, runs)
	if err != nil {
		return err
	}
	heads, rows := evaluation.ScalingTable(report)
	return sendCSV(w, "scaling", heads, rows)
}

// scalingWords says why an evaluation is not a point.
func scalingWords(x relabel.ScalingExcluded) string {
	switch x.Reason {
	case relabel.ScalingTrainingUnknown:
		return fmt.Sprintf("what trained %s is not given", safetext.Plain(x.Unknown))
	case relabel.ScalingRunning:
		return "it is running"
	case relabel.ScalingCancelled:
		return "it was cancelled"
	}
	return "no trajectory is graded"
}
