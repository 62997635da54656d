package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store"
	"relabel/store/storetest"
)

// sampleOf stores an iteration of kind sample whose only trajectory is done.
func sampleOf(t *testing.T, s *store.Store, d storetest.Seeded, number int, measures bool, benchmark *relabel.ID) relabel.Iteration {
	t.Helper()
	ctx := context.Background()
	p := evaluationOf(d, number, d.Tasks[0])
	p.Iteration.Kind, p.Iteration.BenchmarkID, p.Measures = relabel.Sample, benchmark, measures
	must(t, s.CreateIteration(ctx, p))
	storetest.Finish(t, s, storetest.Claim(t, s, p.Trajectories[0].ID, "w"), 3, true)
	it, _, err := s.FindIteration(ctx, p.Iteration.ID)
	must(t, err)
	return it
}

// A sample that measures has a benchmark, is no evaluation of it, and is in no export, even where the
// tasks of the benchmark are allowed, and even as the latest one.
func TestASampleThatMeasuresIsNeverExported(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		d.Run.Recipe, d.Run.Beta = relabel.OPD, nil
		d.Iteration.Kind, d.Iteration.Beta = relabel.Sample, nil
		d.Trajectories[0].Executors = "ssssss"
	})
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 3, true)
	named := benchmarkOf(t, s, "named", d.Tasks[0])
	heldOut := sampleOf(t, s, d, 2, true, nil)
	onNamed := sampleOf(t, s, d, 3, true, &named.ID)
	if heldOut.BenchmarkID == nil || heldOut.Limits == nil || *heldOut.BenchmarkID == named.ID || *onNamed.BenchmarkID != named.ID || onNamed.Limits.MaxTurns != 7 {
		t.Errorf("the samples are %+v and %+v", heldOut, onNamed)
	}
	if found, err := s.FindBenchmark(ctx, named.ID); err != nil || found.Evaluations != 0 || found.Samples != 1 {
		t.Errorf("the benchmark has %d evaluations and %d samples, %v", found.Evaluations, found.Samples, err)
	}
	if list, _, err := s.ListEvaluations(ctx, named.ID, relabel.Page{}); err != nil || len(list) != 0 {
		t.Errorf("evaluations %+v, %v", list, err)
	}
	report, err := evaluation.Report(ctx, s, d.Run.ID, []relabel.Iteration{d.Iteration, heldOut, onNamed})
	must(t, err)
	for i, want := range []relabel.Results{{}, {BenchmarkID: *heldOut.BenchmarkID}, {BenchmarkID: named.ID, Benchmark: "named"}} {
		if got := report.Samples[i]; got.BenchmarkID != want.BenchmarkID || got.Benchmark != want.Benchmark {
			t.Errorf("sample %d is on %v %q in the report, not on %v %q", got.Number, got.BenchmarkID, got.Benchmark, want.BenchmarkID, want.Benchmark)
		}
	}
	for _, sel := range []relabel.ExportSelection{{}, {Aggregated: true}, {Iteration: 3}, {Iteration: 2}} {
		sel.RunID, sel.AllowBenchmarks = d.Run.ID, []string{"named"}
		n, last := 0, error(nil)
		for e, err := range s.Exported(ctx, sel) {
			if last = err; err == nil && e.Iteration.ID == d.Iteration.ID {
				n++
			} else if err == nil {
				t.Errorf("%+v exports %s %d", sel, e.Iteration.Kind, e.Iteration.Number)
			}
		}
		if sel.Iteration == 0 {
			must(t, last)
			if n != 1 {
				t.Errorf("%+v exports %d trajectories", sel, n)
			}
			continue
		}
		wantCode(t, last, relabel.CodeNotFound)
	}
}
