package store

import (
	"context"
	"slices"

	"relabel"
	"relabel/stats"
)

// gradedCounts are tasks with equal numbers of graded and of resolved trajectories.
type gradedCounts struct{ graded, resolved, tasks int }

// ListPassAtK returns pass@k for k = 1, 2, 4, … and the number of generations, from the trajectories
// that are graded so far; nil for an iteration that has one generation, is no evaluation and
// no sample, or has no verdict yet.
func (s *Store) ListPassAtK(ctx context.Context, it relabel.Iteration) ([]relabel.PassAtK, error) {
	if it.Kind.Labelled() || it.Generations < 2 {
		return nil, nil
	}
	rows, err := s.pool.Query(ctx, `SELECT n, c, count(*) FROM (SELECT count(*) FILTER (WHERE `+graded+`) AS n, count(*) FILTER (WHERE resolved) AS c
		FROM trajectories tr WHERE iteration_id = $1 GROUP BY task_id) AS per_task GROUP BY n, c`, it.ID)
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	var counts []gradedCounts
	for rows.Next() {
		var c gradedCounts
		if err := rows.Scan(&c.graded, &c.resolved, &c.tasks); err != nil {
			return nil, classify(err)
		}
		counts = append(counts, c)
	}
	if !slices.ContainsFunc(counts, func(c gradedCounts) bool { return c.graded > 0 }) {
		return nil, classify(rows.Err()) // no verdict yet
	}
	var all []relabel.PassAtK
	for k := 1; k < it.Generations; k *= 2 {
		all = append(all, passAtK(counts, k))
	}
	return append(all, passAtK(counts, it.Generations)), classify(rows.Err())
}

// passAtK is the mean over the tasks with at least k graded trajectories.
func passAtK(counts []gradedCounts, k int) relabel.PassAtK {
	p, sum := relabel.PassAtK{K: k}, 0.0
	for _, c := range counts {
		if c.graded < k {
			p.Short += c.tasks
			continue
		}
		p.Tasks += c.tasks
		sum += float64(c.tasks) * stats.PassAtK(c.graded, c.resolved, k)
	}
	if p.Tasks > 0 {
		p.Value = new(sum / float64(p.Tasks))
	}
	return p
}
