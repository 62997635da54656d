package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"relabel"
	"relabel/evaluation"
	"relabel/safetext"
)

// comparisonView is the page that compares two evaluations.
type comparisonView struct {
	Run  relabel.Run
	A    relabel.Results
	B    *relabel.Results // nil before one is chosen
	Of   relabel.Comparison
	Rows []changedRow
	// Others are the newest evaluations on the same benchmark.
	Others []relabel.Results
}

// Heading names the two evaluations, with their runs unless both are of one.
func (v comparisonView) Heading() string {
	switch {
	case v.B == nil:
		return fmt.Sprintf("Compare evaluate %d", v.A.Number)
	case v.A.RunID == v.B.RunID:
		return fmt.Sprintf("Evaluate %d against evaluate %d", v.A.Number, v.B.Number)
	}
	return fmt.Sprintf("Evaluate %d of %s against evaluate %d of %s", v.A.Number, v.A.Run, v.B.Number, v.B.Run)
}

// changedRow is a task whose results differ, with its page.
type changedRow struct {
	relabel.ChangedTask
	Link string
}

// Better reports whether the task is better in the first evaluation.
func (c changedRow) Better() bool { return c.Resolved*c.WithGraded > c.WithResolved*c.Graded }

// chooseComparison leads from a form with the evaluations ?a= and ?b= to the page that compares them.
func (v *viewer) chooseComparison(w http.ResponseWriter, r *http.Request) error {
	a, err := chosenID(r, "a")
	if err != nil {
		return err
	}
	b, err := chosenID(r, "b")
	if err != nil {
		return err
	}
	http.Redirect(w, r, comparisonPath(a, b), http.StatusSeeOther)
	return nil
}

// chosenID reads an id in a query.
func chosenID(r *http.Request, name string) (relabel.ID, error) {
	word := r.URL.Query().Get(name)
	if word == "" {
		return relabel.ID{}, relabel.Errorf(relabel.CodeInvalid, "is missing: choose an evaluation").On(name)
	}
	return relabel.ParseID(name, word)
}

func (v *viewer) compareEvaluations(w http.ResponseWriter, r *http.Request, it relabel.Iteration) error {
	if it.Kind != relabel.Evaluate || it.BenchmarkID == nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s is not an evaluation: only evaluations are compared", iterationName(it))
	}
	others, _, err := v.Store.ListEvaluations(r.Context(), *it.BenchmarkID, relabel.Page{Limit: evaluationsShown})
	if err != nil {
		return err
	}
	view := comparisonView{}
	l := load{ctx: r.Context()}
	read(&l, &view.Run, v.Store.FindRun, it.RunID)
	read(&l, &view.A, v.evaluation, it)
	read(&l, &view.Others, v.evaluations, others)
	if l.err != nil {
		return l.err
	}
	if r.URL.Query().Get("with") != "" {
		if err := v.addComparison(r, it, &view); err != nil {
			return err
		}
	}
	return v.render(w, r, page{Template: "comparison", Title: "Comparison of " + iterationName(it) + " of " + safetext.Plain(view.Run.Name), Section: "Home",
		Crumbs: []crumb{home, runCrumb(view.Run), {"evaluations", runPath(it.RunID) + "/report"}}, View: view})
}

// addComparison adds the comparison with the evaluation that the query names.
func (v *viewer) addComparison(r *http.Request, it relabel.Iteration, view *comparisonView) error {
	with, compared, err := v.compared(r, it)
	if err != nil {
		return err
	}
	other, err := v.evaluation(r.Context(), with)
	if err != nil {
		return err
	}
	view.B, view.Of = &other, compared
	b, err := v.Store.FindBenchmark(r.Context(), *it.BenchmarkID)
	for _, c := range compared.Changed {
		view.Rows = append(view.Rows, changedRow{c, taskPath(b.TasksetID, c.TaskID, c.InstanceID)})
	}
	return err
}

// compared compares an evaluation with the one that the query names (?with=).
func (v *viewer) compared(r *http.Request, it relabel.Iteration) (with relabel.Iteration, c relabel.Comparison, err error) {
	id, err := chosenID(r, "with")
	if err != nil {
		return with, c, err
	}
	if with, err = v.findIteration(r.Context(), id); err != nil {
		return with, c, unknownName(err, "with")
	}
	c, err = evaluation.CompareStored(r.Context(), v.Store, it, with)
	if of, is := errors.AsType[*relabel.Error](err); is && of.Field == "query.with" {
		err = relabel.Errorf(of.Code, "%s", of.Message).On("with")
	}
	return with, c, err
}

// evaluation returns the results of one evaluation.
func (v *viewer) evaluation(ctx context.Context, it relabel.Iteration) (relabel.Results, error) {
	all, err := v.evaluations(ctx, []relabel.Iteration{it})
	if err != nil {
		return relabel.Results{}, err
	}
	return all[0], nil
}

func (v *viewer) evaluations(ctx context.Context, its []relabel.Iteration) ([]relabel.Results, error) {
	return evaluation.OfEvaluations(ctx, v.Store, its)
}

func (v *viewer) sendComparison(w http.ResponseWriter, r *http.Request, it relabel.Iteration) error {
	_, c, err := v.compared(r, it)
	if err != nil {
		return err
	}
	heads, rows := evaluation.ComparisonTable(c)
	return sendCSV(w, "comparison", heads, rows)
}
