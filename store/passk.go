package store

import (
	"context"

	"relabel"
	"relabel/stats"
)

// verdictCounts are tasks with equal numbers of verdicts.
type verdictCounts struct{ verdicts, resolved, tasks int }

// ListPassAtK returns pass@k for k = 1, 2, 4, … and the number of generations, from the verdicts
// so far; nil for an iteration that has one generation or is no evaluation and no sample.
func (s *Store) ListPassAtK(ctx context.Context, it relabel.Iteration) ([]relabel.PassAtK, error) {
	if it.Kind.Labelled() || it.Generations < 2 {
		return nil, nil
	}
	rows, err := s.pool.Query(ctx, `SELECT n, c, count(*) FROM (SELECT count(resolved) AS n, count(*) FILTER (WHERE resolved) AS c
		FROM trajectories WHERE iteration_id = $1 GROUP BY task_id) AS per_task GROUP BY n, c`, it.ID)
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	var counts []verdictCounts
	for rows.Next() {
		var c verdictCounts
		if err := rows.Scan(&c.verdicts, &c.resolved, &c.tasks); err != nil {
			return nil, classify(err)
		}
		counts = append(counts, c)
	}
	var all []relabel.PassAtK
	for k := 1; k < it.Generations; k *= 2 {
		all = append(all, passAtK(counts, k))
	}
	return append(all, passAtK(counts, it.Generations)), classify(rows.Err())
}

// passAtK is the mean over the tasks with at least k verdicts.
func passAtK(counts []verdictCounts, k int) relabel.PassAtK {
	p, sum := relabel.PassAtK{K: k}, 0.0
	for _, c := range counts {
		if c.verdicts < k {
			p.Short += c.tasks
			continue
		}
		p.Tasks += c.tasks
		sum += float64(c.tasks) * stats.PassAtK(c.verdicts, c.resolved, k)
	}
	if p.Tasks > 0 {
		p.Value = new(sum / float64(p.Tasks))
	}
	return p
}
