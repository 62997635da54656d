package server

import (
	"context"
	"net/http"

	"relabel"
	"relabel/api"
	"relabel/evaluation"
)

func (s *site) addScaling() {
	add(s, operation(http.MethodGet, "/v1/scaling", "runs", "compare-scaling", "Compare runs by the training of their students",
		"The evaluations of runs on one benchmark by the effective samples and labels of their students. Evaluations whose student's training is not given, and those on other benchmarks, are listed apart."), s.showScaling)
}

func (s *site) showScaling(ctx context.Context, in *api.ScalingQuery) (*of[relabel.ScalingReport], error) {
	runs, err := s.findRuns(ctx, in.Runs)
	if err != nil {
		return nil, err
	}
	var benchmark *relabel.ID
	if in.Benchmark != "" {
		b, err := s.findBenchmark(ctx, in.Benchmark)
		if err != nil {
			return nil, asField(err, "query.benchmark")
		}
		benchmark = &b.ID
	}
	return one(evaluation.Scaling(ctx, s.Store, runs, benchmark))
}
