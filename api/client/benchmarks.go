package client

import (
	"context"
	"net/http"
	"net/url"

	"relabel"
	"relabel/api"
)

// CreateBenchmark stores a benchmark.
func (c *Client) CreateBenchmark(ctx context.Context, in api.NewBenchmark) (api.BenchmarkView, error) {
	return post[api.BenchmarkView](ctx, c, at("benchmarks"), in)
}

// Benchmarks lists benchmarks, newest first. filter takes unnamed.
func (c *Client) Benchmarks(ctx context.Context, filter url.Values) ([]relabel.Benchmark, error) {
	return list[relabel.Benchmark](ctx, c, at("benchmarks"), filter)
}

// Benchmark returns a benchmark by its id or its name.
func (c *Client) Benchmark(ctx context.Context, word string) (api.BenchmarkView, error) {
	return get[api.BenchmarkView](ctx, c, at("benchmarks", word))
}

// DeleteBenchmark deletes a benchmark, by its id or its name, and returns it.
func (c *Client) DeleteBenchmark(ctx context.Context, word string) (b relabel.Benchmark, err error) {
	return b, c.Send(ctx, http.MethodDelete, at("benchmarks", word), nil, &b)
}

// EvaluationsOn lists the evaluations on a benchmark, newest first.
func (c *Client) EvaluationsOn(ctx context.Context, benchmark relabel.ID) ([]relabel.Results, error) {
	return list[relabel.Results](ctx, c, at("benchmarks", benchmark.String(), "evaluations"), nil)
}
