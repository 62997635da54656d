package cli

import (
	"context"
	"fmt"
	"slices"

	"relabel"
	"relabel/api"
)

// report exports the labels and prints a summary. localised is the run with tasks to localise, nil without one.
func (d *demo) report(ctx context.Context, localised *relabel.Run, runs ...relabel.Run) error {
	fmt.Println()
	if err := PrintIterations(ctx, d.client, runs...); err != nil {
		return err
	}
	if localised != nil {
		if err := d.reportLocalised(ctx, *localised); err != nil {
			return err
		}
		runs = append(runs, *localised)
	}
	fmt.Println()
	exports := make([]relabel.Export, len(runs))
	for i, run := range runs {
		var err error
		if exports[i], err = d.beginExport(ctx, run); err != nil {
			return err
		}
	}
	for i, run := range runs {
		e, err := WatchExport(ctx, d.client, exports[i].ID)
		if err != nil {
			return err
		}
		say("Data set of %s: %d labelled states in %s", run.Name, e.Rows, e.Directory)
	}
	if d.tokenizer == "" {
		fmt.Println("The data sets hold messages only: token views need --tokenizer DIR, a folder with tokenizer.json.")
		return nil
	}
	fmt.Printf("The data sets hold token ids of %s too; on the page (`relabel serve`): Exports, then a view, shows a row with its loss mask.\n", d.tokenizer)
	return nil
}

// beginExport finds or starts the aggregated data set of a run's submissions.
func (d *demo) beginExport(ctx context.Context, run relabel.Run) (relabel.Export, error) {
	exports, err := d.client.Exports(ctx, nil)
	if err != nil {
		return relabel.Export{}, err
	}
	views := d.views()
	form := relabel.ExportForm{Views: views}.WithDefaults()
	old := Find(exports, func(e relabel.Export) bool {
		return e.Selection.RunID == run.ID && e.Selection.Aggregated && e.State == relabel.ExportDone && slices.Equal(e.Form.Views, views) &&
			e.Form.Capacity == form.Capacity && e.Form.MaxLength == form.MaxLength
	})
	if old != nil {
		return *old, nil
	}
	return d.client.StartExport(ctx, api.NewExport{Run: run.ID.String(), LabelSelection: api.LabelSelection{Aggregated: true, Submitted: new(true)}, ExportForm: relabel.ExportForm{Views: views, Tokenizer: d.tokenizer}})
}

// views are the views of the data sets: with a tokenizer also the token views.
func (d *demo) views() []relabel.View {
	if d.tokenizer == "" {
		return []relabel.View{relabel.ViewMessages}
	}
	return relabel.Views
}
