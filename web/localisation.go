package web

import (
	"fmt"
	"net/http"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
	"relabel/web/chart"
)

// localisationView is the page that shows how a run's iterations localise issues.
type localisationView struct {
	Run         relabel.Run
	Report      relabel.LocalisationReport
	Figures     []rankingRow
	Languages   []rankingRow
	Comparisons []rankingRow
	Scores      []scoreRow // of the comparisons
	Charts      []chart.Chart
	With        string // the id of the iteration that all are compared with, "" for the ones before
}

// rankingRow has the figures of one level.
type rankingRow struct {
	Name, Link string
	Level      string
	Figures    *relabel.RankingFigures
}

// scoreRow is the difference of the scores of two iterations.
type scoreRow struct {
	Name  string
	Score *relabel.TaskMean
}

func (v *viewer) localisationRoutes() routes {
	return routes{"GET /runs/{id}/localisation": of(v.runOf, v.showLocalisation), "GET /runs/{id}/localisation.csv": of(v.runOf, v.sendLocalisation)}
}

// localisationReport is the report of a run that the query asks for (?with=).
func (v *viewer) localisationReport(r *http.Request, run relabel.ID) (relabel.LocalisationReport, error) {
	var with *relabel.ID
	if r.URL.Query().Get("with") != "" {
		id, err := chosenID(r, "with")
		if err != nil {
			return relabel.LocalisationReport{}, err
		}
		with = &id
	}
	return evaluation.Localisation(r.Context(), v.Store, run, with)
}

func (v *viewer) showLocalisation(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	report, err := v.localisationReport(r, run.ID)
	if err != nil {
		return err
	}
	view := localisationView{Run: run, Report: report, With: r.URL.Query().Get("with"), Charts: chart.Localisation(report)}
	names := map[relabel.ID]string{}
	for _, of := range report.Iterations {
		name, link := fmt.Sprintf("%s %d", of.Kind, of.Number), iterationPath(of.IterationID)
		names[of.IterationID] = name
		view.Figures = appendLevels(view.Figures, rankingRow{Name: name, Link: link}, of.Files, of.Functions)
		for _, language := range of.Languages {
			row := rankingRow{Name: name + ", " + languageWord(language.Language), Link: link}
			view.Languages = appendLevels(view.Languages, row, language.Files, language.Functions)
		}
	}
	for _, c := range report.Comparisons {
		with := names[c.WithID]
		if with == "" {
			with = "an iteration of another run"
		}
		row := rankingRow{Name: names[c.IterationID] + " minus " + with, Link: iterationPath(c.IterationID)}
		view.Comparisons = appendLevels(view.Comparisons, row, c.Files, c.Functions)
		view.Scores = append(view.Scores, scoreRow{row.Name, c.Score})
	}
	return v.render(w, r, page{Template: "localisation", Title: "Localisation of " + safetext.Plain(run.Name), Section: "Home", Crumbs: []crumb{home, runCrumb(run)},
		Scripts: []string{"uplot.js", "chart.js"}, View: view})
}

// appendLevels appends a row for each level that has figures.
func appendLevels(rows []rankingRow, row rankingRow, files, functions *relabel.RankingFigures) []rankingRow {
	for i, figures := range []*relabel.RankingFigures{files, functions} {
		if figures == nil {
			continue
		}
		row.Level, row.Figures = []string{"files", "functions"}[i], figures
		rows = append(rows, row)
	}
	return rows
}

// sendLocalisation sends the report as CSV.
func (v *viewer) sendLocalisation(w http.ResponseWriter, r *http.Request, run relabel.Run) error {
	report, err := v.localisationReport(r, run.ID)
	if err != nil {
		return err
	}
	heads, rows := evaluation.LocalisationTable(report)
	return sendCSV(w, "localisation", heads, rows)
}

func languageWord(language string) string {
	if language == "" {
		return "no known language"
	}
	return language
}

// taskMeanWords formats a mean times a factor with its interval.
func taskMeanWords(m *relabel.TaskMean, factor float64) string {
	switch {
	case m == nil:
		return "–"
	case m.Low == nil || m.High == nil:
		return fmt.Sprintf("%.1f", factor*m.Mean)
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f]", factor*m.Mean, factor**m.Low, factor**m.High)
}
