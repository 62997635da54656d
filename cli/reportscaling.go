package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

// reportScaling is `relabel report scaling RUN…`.
type reportScaling struct {
	ClientFlags
	api.ScalingQuery
	Axis   relabel.ScalingAxis `enum:"trajectories,states" default:"trajectories" placeholder:"AXIS" help:"What the table is sorted by: trajectories × epochs (effective samples), or labelled states × epochs. Default: trajectories."`
	Format string              `enum:"table,json,csv" default:"table" placeholder:"FORMAT" help:"table, json or csv."`
}

// Run prints the points of each run, then what is not one.
func (c *reportScaling) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		for _, run := range c.Runs {
			if err := mustExist(ctx, cl, run); err != nil {
				return err
			}
		}
		report, err := cl.Scaling(ctx, c.ScalingQuery)
		switch {
		case err != nil:
			return err
		case c.Format == "json":
			return printJSON(report)
		case c.Format == "csv":
			heads, rows := evaluation.ScalingTable(report)
			return printCSV(heads, rows)
		}
		return c.printScaling(report)
	})
}

func (c *reportScaling) printScaling(report relabel.ScalingReport) error {
	if report.BenchmarkID == nil {
		say("the runs have no evaluations")
		return nil
	}
	say("benchmark %s", cmp.Or(report.Benchmark, report.BenchmarkID.String()))
	measure := map[relabel.ScalingAxis]string{relabel.AxisTrajectories: "EFFECTIVE SAMPLES", relabel.AxisStates: "EFFECTIVE LABELS"}
	t := newTable("RUN", "RECIPE", measure[c.Axis], "STUDENT", "RESOLVED", "UNGRADED", "EVALUATION")
	for _, series := range report.Runs {
		points := slices.SortedStableFunc(slices.Values(series.Points), func(a, b relabel.ScalingPoint) int {
			return cmp.Compare(a.Effective.On(c.Axis), b.Effective.On(c.Axis))
		})
		for _, p := range points {
			e := p.Evaluation
			t.row(series.Run, series.Recipe, numberText(p.Effective.On(c.Axis)), e.Student, proportionText(e.Resolved), e.Ungraded, fmt.Sprintf("%s, evaluate %d", e.Run, e.Number))
		}
	}
	if err := t.print(); err != nil {
		return err
	}
	say("shares of the graded trajectories with 95%% intervals")
	for _, series := range report.Runs {
		for _, p := range series.Points {
			sayNotes(p.Evaluation)
		}
	}
	for _, x := range report.Excluded {
		say("not shown: %s, evaluate %d of %s: %s", x.Run, x.Number, x.Student, excludedText(x))
	}
	for _, b := range report.OtherBenchmarks {
		say("not shown: %d evaluations on benchmark %s", b.Evaluations, cmp.Or(b.Benchmark, b.BenchmarkID.String()))
	}
	return nil
}

// excludedText says why an evaluation is not a point.
func excludedText(x relabel.ScalingExcluded) string {
	switch x.Reason {
	case relabel.ScalingTrainingUnknown:
		return "it is not given what trained " + x.Unknown
	case relabel.ScalingRunning:
		return "it is running"
	case relabel.ScalingCancelled:
		return "it was cancelled"
	}
	return "no trajectory is graded"
}
