package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// taskHeads are the tasks of taskset $1 that match the filter, with the counts of their
// trajectories. The start of the problem is cut by bytes and repaired when it is read.
const taskHeads = `SELECT ta.id, ta.instance_id, ta.repo, ta.held_out, ta.begins, c.* FROM (
		SELECT id, instance_id, repo, held_out, substring(problem_statement FROM 1 FOR 1200) AS begins FROM tasks
		WHERE taskset_id = $1 AND (position(lower($2) IN lower(instance_id)) > 0 OR position(lower($2) IN lower(repo)) > 0) AND ($3::boolean IS NULL OR held_out = $3)
			AND instance_id > $4 ORDER BY instance_id LIMIT $5) ta
	LEFT JOIN LATERAL (SELECT ` + cellCounts + ` FROM trajectories tr WHERE tr.task_id = ta.id) c ON true ORDER BY ta.instance_id`

// ListTaskHeads lists a taskset's tasks in the byte order of their instance ids, none if there
// is no such taskset. CodeInvalid for an invalid page.
func (s *Store) ListTaskHeads(ctx context.Context, taskset relabel.ID, f relabel.TaskFilter, p relabel.Page) ([]relabel.TaskHead, string, error) {
	after, limit, err := namePage(p)
	if err != nil {
		return nil, "", err
	}
	rows, _ := s.pool.Query(ctx, taskHeads, taskset, validUTF8(f.Part), f.HeldOut, after, limit+1)
	heads, err := pgx.CollectRows(rows, scanTaskHead)
	if err != nil {
		return nil, "", classify(err)
	}
	next := ""
	if len(heads) > limit {
		heads = heads[:limit]
		next = nameCursor(heads[limit-1].InstanceID)
	}
	return heads, next, nil
}

func scanTaskHead(row pgx.CollectableRow) (h relabel.TaskHead, err error) {
	var begins []byte
	err = row.Scan(append([]any{&h.ID, &h.InstanceID, &h.Repo, &h.HeldOut, &begins}, cellFields(&h.Outcomes)...)...)
	text := []rune(validUTF8(string(begins)))
	h.Begins = string(text[:min(len(text), 300)])
	return h, err
}
