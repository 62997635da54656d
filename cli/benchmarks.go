package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"relabel"
	"relabel/api"
	"relabel/api/client"
)

// BenchmarkCommand is `relabel benchmark`.
type BenchmarkCommand struct {
	Create benchmarkCreate `cmd:"" help:"Create a benchmark: a fixed list of tasks with limits, which evaluations roll out and collection does not."`
	List   benchmarkList   `cmd:"" help:"List benchmarks."`
	Show   benchmarkShow   `cmd:"" help:"Show a benchmark: the evaluations on it, its tasks, and what it excludes and why."`
	Delete benchmarkDelete `cmd:"" help:"Delete a benchmark, which then reserves no task; refused while an evaluation or a sample is on it."`
}

// benchmarkCreate is `relabel benchmark create NAME`.
type benchmarkCreate struct {
	ClientFlags
	api.NewBenchmark
	File    string            `type:"existingfile" placeholder:"FILE" help:"File with one instance id per line: exactly these instances."`
	Exclude map[string]string `mapsep:"none" placeholder:"INSTANCE=REASON" help:"Leave this task out, for this reason; may be repeated."`
}

// Validate refuses a selection of tasks in no way or in several, and an exclusion without a reason.
func (c *benchmarkCreate) Validate() error {
	ways := 0
	for _, is := range []bool{len(c.Instances) > 0 || c.File != "", c.HeldOut, c.All, c.Tasks > 0} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		return relabel.Errorf(relabel.CodeInvalid, "select the tasks in exactly one way: --file or --instance, --held-out, --all, or --count")
	}
	for _, instance := range slices.Sorted(maps.Keys(c.Exclude)) {
		if instance == "" || strings.TrimSpace(c.Exclude[instance]) == "" {
			return relabel.Errorf(relabel.CodeInvalid, "%q has no instance or no reason: give INSTANCE=REASON", instance+"="+c.Exclude[instance]).On("--exclude")
		}
	}
	return nil
}

// request is the request, and for its fields of single tasks where the user gave them.
func (c *benchmarkCreate) request() (body api.NewBenchmark, places map[string]string, err error) {
	body, places = c.NewBenchmark, map[string]string{}
	body.Instances = slices.Clone(body.Instances)
	for i := range body.Instances {
		places[fmt.Sprintf("instances[%d]", i)] = "--instance"
	}
	if c.File != "" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return body, nil, err
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			for _, id := range strings.Fields(line) {
				places[fmt.Sprintf("instances[%d]", len(body.Instances))] = fmt.Sprintf("--file: %s, line %d", c.File, number)
				body.Instances = append(body.Instances, id)
			}
		}
		if len(body.Instances) == 0 {
			return body, nil, relabel.Errorf(relabel.CodeInvalid, "%s names no instance", c.File).On("--file")
		}
	}
	for i, instance := range slices.Sorted(maps.Keys(c.Exclude)) {
		places[fmt.Sprintf("excluded[%d].instance_id", i)] = "--exclude"
		body.Excluded = append(body.Excluded, relabel.ExcludedTask{InstanceID: instance, Reason: c.Exclude[instance]})
	}
	return body, places, nil
}

// asGiven is an error that names the places where the user gave wrong tasks, instead of the request's fields.
func asGiven(err error, places map[string]string) error {
	if err == nil || relabel.CodeOf(err) != relabel.CodeInvalid {
		return err
	}
	message := err.Error()
	for field, place := range places {
		message = strings.ReplaceAll(message, field+": ", place+": ")
	}
	return relabel.Errorf(relabel.CodeInvalid, "%s", message)
}

// Run makes the benchmark.
func (c *benchmarkCreate) Run(ctx context.Context) error {
	body, places, err := c.request()
	if err != nil {
		return err
	}
	return c.With(ctx, func(cl *Session) error {
		if _, err := findTaskset(ctx, cl, body.Taskset); err != nil {
			return err
		}
		b, err := cl.CreateBenchmark(ctx, body)
		if err != nil {
			return asGiven(err, places)
		}
		say("%s  %s: %s, %d excluded", b.ID, b.Name, counted(b.Tasks, "task"), len(b.Excluded))
		say("%s", reservedText(b))
		return nil
	})
}

// reservedText says what a benchmark reserves, and how to undo that.
func reservedText(b api.BenchmarkView) string {
	text := fmt.Sprintf("%d tasks are now reserved, in any task set: neither drawn for collection nor exported", b.Tasks)
	if r := b.Reserves; r != nil {
		similar := ""
		if r.Similar > 0 {
			similar = fmt.Sprintf(", %d of them reserved only since their patches overlap", r.Similar)
		}
		text += fmt.Sprintf(" (%d were trainable, counted in each task set%s; %d finished trajectories are of these tasks)", r.Trainable, similar, r.Trajectories)
	}
	return text + "; `relabel benchmark delete " + b.Name + "` undoes that while no evaluation or sample is on it"
}

// benchmarkDelete is `relabel benchmark delete BENCHMARK`.
type benchmarkDelete struct {
	ClientFlags
	Benchmark string `arg:"" help:"Name or id of the benchmark."`
}

// Run deletes the benchmark.
func (c *benchmarkDelete) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		b, err := cl.DeleteBenchmark(ctx, c.Benchmark)
		if b, err = named(b, err, "benchmark", c.Benchmark, "benchmark list"); err != nil {
			return err
		}
		say("deleted: %s; its %d tasks are not reserved by it any more", cmp.Or(b.Name, b.ID.String()), b.Tasks)
		return nil
	})
}

// benchmarkList is `relabel benchmark list`.
type benchmarkList struct {
	ClientFlags
	api.BenchmarkQuery
}

// Run prints the benchmarks.
func (c *benchmarkList) Run(ctx context.Context) error {
	heads := []string{"ID", "NAME", "TASKS", "EXCLUDED", "CHOSEN", "MAX TURNS", "MAX CONTEXT", "EVALUATIONS", "SAMPLES", "CREATED"}
	fetch := func(cl *Session, ctx context.Context) ([]relabel.Benchmark, error) {
		return cl.Benchmarks(ctx, client.Values(c.BenchmarkQuery))
	}
	return list(ctx, c.ClientFlags, fetch, heads, func(b relabel.Benchmark) []any {
		return []any{b.ID, b.Name, b.Tasks, len(b.Excluded), b.Source.Kind, b.Limits.MaxTurns, b.Limits.MaxContextTokens, b.Evaluations, b.Samples, b.CreatedAt}
	})
}

// benchmarkShow is `relabel benchmark show BENCHMARK`.
type benchmarkShow struct {
	ClientFlags
	Benchmark string `arg:"" help:"Name or id of the benchmark."`
}

// Run prints the benchmark, the evaluations on it and its tasks.
func (c *benchmarkShow) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		b, err := cl.Benchmark(ctx, c.Benchmark)
		if b, err = named(b, err, "benchmark", c.Benchmark, "benchmark list"); err != nil {
			return err
		}
		evaluations, err := cl.EvaluationsOn(ctx, b.ID)
		if err != nil {
			return err
		}
		say("%s  %s", b.ID, b.Name)
		say("%d tasks (%s), at most %d turns and %d tokens of context", b.Tasks, sourceText(b.Source), b.Limits.MaxTurns, b.Limits.MaxContextTokens)
		if err := printEvaluationsOn(evaluations); err != nil {
			return err
		}
		t := newTable("INSTANCE", "EXCLUDED")
		for _, e := range b.Excluded {
			t.row(e.InstanceID, e.Reason)
		}
		for _, instance := range b.Instances {
			t.row(instance, "")
		}
		return t.print()
	})
}

// sourceText says how the tasks of a benchmark were chosen, with the seed of a draw.
func sourceText(s relabel.BenchmarkSource) string {
	if s.Seed == nil {
		return string(s.Kind)
	}
	return fmt.Sprintf("%s, seed %d", s.Kind, *s.Seed)
}

// printEvaluationsOn prints the evaluations on a benchmark, newest first.
func printEvaluationsOn(evaluations []relabel.Results) error {
	if len(evaluations) == 0 {
		return nil
	}
	t := newTable("RUN", "EVALUATION", "STUDENT", "RESOLVED", "INTERVAL", "PASS@K", "OPEN", "CREATED", "ID")
	for _, e := range evaluations {
		t.row(e.Run, e.Number, e.Student, proportionText(e.Resolved), e.Resolved.Interval, passAtKText(e.PassAtK), e.Open, e.CreatedAt, e.IterationID)
	}
	if err := t.print(); err != nil {
		return err
	}
	for _, e := range evaluations {
		sayNotes(e)
	}
	return nil
}
