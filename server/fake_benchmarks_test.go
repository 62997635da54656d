package server_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"relabel"
)

// CreateBenchmark, like the methods below, keeps the promises of relabel.BenchmarkStore.
func (m *memory) CreateBenchmark(_ context.Context, b relabel.Benchmark, tasks []relabel.ID) error {
	if _, err := find(m, &m.benchmarks, func(have relabel.Benchmark) bool { return have.Name == b.Name }); err == nil {
		return relabel.Errorf(relabel.CodeConflict, "a benchmark has this name").On("name")
	}
	b.Tasks, b.CreatedAt = len(tasks), time.Now()
	if b.Excluded == nil {
		b.Excluded = []relabel.ExcludedTask{}
	}
	m.benchmarkTasks[b.ID] = tasks
	return add(m, &m.benchmarks, b)
}

func (m *memory) DeleteBenchmark(ctx context.Context, id relabel.ID) error {
	if on, _, err := m.ListEvaluations(ctx, id, relabel.Page{Limit: 1}); err != nil || len(on) > 0 {
		return cmp.Or(err, error(relabel.Errorf(relabel.CodeConflict, "an evaluation is on it")))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.benchmarks = slices.DeleteFunc(m.benchmarks, func(b relabel.Benchmark) bool { return b.ID == id })
	return nil
}

func (m *memory) CountReserved(ctx context.Context, id relabel.ID) (n relabel.Reservation, err error) {
	tasks, err := m.ListBenchmarkTasks(ctx, id)
	for _, t := range tasks {
		if !t.HeldOut {
			n.Trainable++
		}
	}
	return n, err
}

func (m *memory) FindBenchmark(_ context.Context, id relabel.ID) (relabel.Benchmark, error) {
	return find(m, &m.benchmarks, func(b relabel.Benchmark) bool { return b.ID == id })
}

func (m *memory) FindBenchmarkByName(_ context.Context, name string) (relabel.Benchmark, error) {
	return find(m, &m.benchmarks, func(b relabel.Benchmark) bool { return b.Name == name })
}

func (m *memory) ListBenchmarks(_ context.Context, _ relabel.BenchmarkFilter, p relabel.Page) ([]relabel.Benchmark, string, error) {
	return page(m, m.benchmarks, p, func(b relabel.Benchmark) relabel.ID { return b.ID }, func(relabel.Benchmark) bool { return true })
}

func (m *memory) ListBenchmarkTasks(_ context.Context, id relabel.ID) (tasks []relabel.Task, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tasks {
		if slices.Contains(m.benchmarkTasks[id], t.ID) {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b relabel.Task) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	return tasks, m.broken
}

func (m *memory) CountTasks(ctx context.Context, run relabel.Run, allowed []string) (n relabel.TaskCounts, err error) {
	reserved, err := m.ListReserved(ctx, run.TasksetID, allowed)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tasks {
		switch {
		case t.TasksetID != run.TasksetID:
		case t.HeldOut:
			n.HeldOut++
		case len(run.Instances) > 0 && !slices.Contains(run.Instances, t.InstanceID):
		case reserved[t.ID] != "":
			n.Reserved++
		default:
			n.Open++
		}
	}
	return n, err
}

func (m *memory) ListReserved(_ context.Context, taskset relabel.ID, allowed []string) (map[relabel.ID]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reserved := map[relabel.ID]string{}
	for _, b := range m.benchmarks {
		for _, t := range m.tasks {
			if t.TasksetID == taskset && slices.Contains(m.benchmarkTasks[b.ID], t.ID) && !slices.Contains(allowed, b.Name) {
				reserved[t.ID] = b.Name
			}
		}
	}
	return reserved, m.broken
}

func (m *memory) ListReservedBy(_ context.Context, tasks []relabel.ID) (map[relabel.ID][]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[relabel.ID][]string{}
	for _, b := range m.benchmarks {
		for _, id := range tasks {
			if b.Name != "" && slices.Contains(m.benchmarkTasks[b.ID], id) {
				names[id] = append(names[id], b.Name)
			}
		}
	}
	return names, m.broken
}

func (m *memory) CountReservedSince(ctx context.Context, it relabel.Iteration) (n int, err error) {
	if it.BenchmarkID != nil {
		return 0, nil
	}
	run, err := m.FindRun(ctx, it.RunID)
	if err != nil {
		return 0, err
	}
	reserved, err := m.ListReserved(ctx, run.TasksetID, it.AllowBenchmarks)
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range reserved {
		if slices.ContainsFunc(m.trajectories, func(t relabel.Trajectory) bool { return t.IterationID == it.ID && t.TaskID == id }) {
			n++
		}
	}
	return n, err
}

func (m *memory) ListEvaluations(_ context.Context, benchmark relabel.ID, p relabel.Page) ([]relabel.Iteration, string, error) {
	return page(m, m.iterations, p, func(it relabel.Iteration) relabel.ID { return it.ID }, func(it relabel.Iteration) bool { return it.BenchmarkID != nil && *it.BenchmarkID == benchmark })
}

func (m *memory) CountTrained(context.Context, relabel.ID, relabel.ID) (relabel.TrainedTasks, error) {
	return relabel.TrainedTasks{}, nil
}

func (m *memory) ListTaskResults(context.Context, relabel.ID) ([]relabel.TaskResults, error) {
	return nil, nil
}
