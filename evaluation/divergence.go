package evaluation

import (
	"context"

	"relabel"
)

// DivergenceStore reads what divergence reports are made of.
type DivergenceStore interface {
	relabel.DivergenceStore
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
}

// Divergence compares the students of runs with a policy; nil: with the teacher of each. CodeInvalid, on
// runs, for a run that is given twice or too many of them; on policy without it for a run without a teacher.
func Divergence(ctx context.Context, store DivergenceStore, runs []relabel.Run, policy *relabel.ID) (relabel.DivergenceReport, error) {
	report := relabel.DivergenceReport{Runs: []relabel.RunDivergence{}}
	if err := checkRuns(runs); err != nil {
		return report, err
	}
	for _, run := range runs {
		of, err := DivergenceOf(ctx, store, run, policy)
		if err != nil {
			return report, err
		}
		report.Runs = append(report.Runs, of)
	}
	return report, nil
}

// DivergenceOf is Divergence of one run.
func DivergenceOf(ctx context.Context, store DivergenceStore, run relabel.Run, policy *relabel.ID) (relabel.RunDivergence, error) {
	of := relabel.RunDivergence{RunID: run.ID, Run: run.Name, Recipe: run.Recipe, TeacherID: run.TeacherID, Items: []relabel.Divergence{}}
	if policy != nil {
		of.TeacherID = *policy
	}
	if of.TeacherID == (relabel.ID{}) {
		return of, relabel.Errorf(relabel.CodeInvalid, "is missing: the run %s has no teacher", run.Name).On("policy")
	}
	teacher, err := store.FindPolicy(ctx, of.TeacherID)
	if err != nil {
		return of, err
	}
	of.Teacher = nameOf(teacher)
	all, err := store.ListDivergences(ctx, run.ID, of.TeacherID)
	of.Items = append(of.Items, all...)
	return of, err
}

// DivergenceTable has a row for each iteration of a report, with a number in each cell. The divergence is
// in nats per token; low and high are the ends of a 95% interval.
func DivergenceTable(report relabel.DivergenceReport) (heads []string, rows [][]any) {
	heads = []string{"run", "recipe", "kind", "number", "iteration_id", "round", "benchmark_id", "benchmark", "student", "student_id", "teacher", "teacher_id", "greedy",
		"trajectories", "turns", "unscored", "tokens", "impossible", "top_tokens"}
	for _, name := range []string{"k3", "k1", "k3_by_trajectory", "k1_by_trajectory", "top"} {
		heads = append(heads, name, name+"_low", name+"_high")
	}
	heads = append(heads, "compared", "agreed", "label_rule")
	for _, run := range report.Runs {
		for _, d := range run.Items {
			rows = append(rows, divergenceCells(run, d))
		}
	}
	return heads, rows
}

func divergenceCells(run relabel.RunDivergence, d relabel.Divergence) []any {
	cells := []any{run.Run, run.Recipe, d.Kind, d.Number, d.IterationID, d.Round, optional(d.BenchmarkID), d.Benchmark, d.Student, d.StudentID, run.Teacher, d.TeacherID, d.Greedy,
		d.Trajectories, d.Turns, d.Unscored, d.Tokens, d.Impossible, d.TopTokens}
	var k3, k1, k3Mean, k1Mean *relabel.Mean
	if d.ByToken != nil {
		k3, k1 = &d.ByToken.K3, &d.ByToken.K1
	}
	if d.ByTrajectory != nil {
		k3Mean, k1Mean = &d.ByTrajectory.K3, &d.ByTrajectory.K1
	}
	for _, m := range []*relabel.Mean{k3, k1, k3Mean, k1Mean, d.Top} {
		cells = append(cells, meanCells(m)...)
	}
	if d.Agreement == nil {
		return append(cells, "", "", "")
	}
	return append(cells, d.Agreement.Compared, d.Agreement.Agreed, string(d.Agreement.LabelRule))
}

// meanCells are a mean and the ends of its interval, empty if unknown.
func meanCells(m *relabel.Mean) []any {
	if m == nil {
		return []any{"", "", ""}
	}
	return []any{&m.Mean, m.Low, m.High}
}

// optional is an id, or "" without one.
func optional(id *relabel.ID) any {
	if id == nil {
		return ""
	}
	return *id
}

// DivergenceTools has a row for each iteration of a report and each tool that its student called first.
func DivergenceTools(report relabel.DivergenceReport) (heads []string, rows [][]any) {
	heads = []string{"run", "kind", "number", "iteration_id", "tool", "compared", "agreed"}
	for _, run := range report.Runs {
		for _, d := range run.Items {
			if d.Agreement == nil {
				continue
			}
			for _, tool := range d.Agreement.Tools {
				rows = append(rows, []any{run.Run, d.Kind, d.Number, d.IterationID, tool.Name(), tool.Compared, tool.Agreed})
			}
		}
	}
	return heads, rows
}
