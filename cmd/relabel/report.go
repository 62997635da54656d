package main

import (
	"context"
	"fmt"
	"relabel/api"
	"slices"

	"relabel"
)

// printIterations prints a line for each iteration of the runs, and below why
// trajectories failed.
func printIterations(ctx context.Context, cl *session, runs ...relabel.Run) error {
	return printRuns(ctx, cl, false, runs...)
}

// printRuns is printIterations, with the iterations' ids if they are asked for: pause,
// retry, label and others take one.
func printRuns(ctx context.Context, cl *session, ids bool, runs ...relabel.Run) error {
	heads := []string{"RUN", "ITERATION", "MIXTURE", "TRAJECTORIES", "FAILED", "TURNS", "BY TEACHER", "LABELS", "MISSING", "SUBMITTED", "RESOLVED", "PASSED ONLY", "STATE"}
	if ids {
		heads = append(heads, "ID")
	}
	t := newTable(heads...)
	var causes []func() error
	for _, run := range runs {
		its, err := cl.Iterations(ctx, run.ID)
		if err != nil {
			return err
		}
		for _, it := range its {
			p := it.Progress
			ended, all := counts(p)
			cells := []any{run.Name, fmt.Sprintf("%s %d", it.Kind, it.Number), mixture(it.Iteration),
				fmt.Sprintf("%d of %d", ended, all), p.Trajectories[relabel.Failed], p.Turns, share(p.TeacherTurns, p.Turns), p.LabelsHad, p.LabelsMissed,
				p.Submitted, fmt.Sprintf("%d of %d", p.Resolved, p.Verified), p.PassedUnsubmitted, standing(run, it.Iteration)}
			if ids {
				cells = append(cells, it.ID)
			}
			t.row(cells...)
			causes = append(causes, func() error { return printCauses(ctx, cl, fmt.Sprintf("%s, %s %d", run.Name, it.Kind, it.Number), it) })
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	for _, print := range causes {
		if err := print(); err != nil {
			return err
		}
	}
	return nil
}

// standing says how an iteration stands: paused, where it or its run is.
func standing(run relabel.Run, it relabel.Iteration) string {
	if it.State == relabel.IterationRunning && (it.Paused != nil || run.Paused != nil) {
		return "paused"
	}
	return string(it.State)
}

// mixture says who acts in an iteration.
func mixture(it relabel.Iteration) string {
	switch {
	case it.Kind == relabel.Evaluate:
		return "student alone"
	case it.Beta != nil:
		return fmt.Sprintf("β=%.2g", *it.Beta)
	case it.Rho != nil:
		return fmt.Sprintf("κ~%s %d", it.Rho.Kind, it.Rho.Max)
	}
	return ""
}

// report exports what was collected and prints what there is.
func (d *demo) report(ctx context.Context, runs ...relabel.Run) error {
	fmt.Println()
	if err := printIterations(ctx, d.client, runs...); err != nil {
		return err
	}
	fmt.Println()
	for _, run := range runs {
		e, err := d.export(ctx, run)
		if err != nil {
			return err
		}
		fmt.Printf("Data set of %s: %d labelled states in %s\n", run.Name, e.Rows, e.Directory)
	}
	if d.tokenizer == "" {
		fmt.Println("The data sets hold messages only: token views need --tokenizer DIR, a folder with tokenizer.json.")
		return nil
	}
	fmt.Printf("The data sets hold token ids of %s too; on the page: Exports, then a view, shows a row with its loss mask.\n", d.tokenizer)
	return nil
}

// export finds or builds the aggregated data set of a run's valid submissions.
func (d *demo) export(ctx context.Context, run relabel.Run) (relabel.Export, error) {
	exports, err := d.client.Exports(ctx, nil)
	if err != nil {
		return relabel.Export{}, err
	}
	views := d.views()
	old := find(exports, func(e relabel.Export) bool {
		return e.Selection.RunID == run.ID && e.State == relabel.ExportDone && slices.Equal(e.Form.Views, views)
	})
	if old != nil {
		return *old, nil
	}
	e, err := d.client.StartExport(ctx, api.NewExport{Run: run.ID.String(), Aggregated: true, Submitted: new(true), NewExportForm: api.NewExportForm{Views: views, Tokenizer: d.tokenizer}})
	if err != nil {
		return e, err
	}
	return watchExport(ctx, d.client, e.ID)
}

// views are the forms of the data sets: those of tokens too where there is a tokenizer.
func (d *demo) views() []relabel.View {
	if d.tokenizer == "" {
		return []relabel.View{relabel.ViewMessages}
	}
	return relabel.Views
}
