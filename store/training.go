package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

func insertTraining(ctx context.Context, tx pgx.Tx, p relabel.Policy) error {
	for i, on := range p.TrainedOn {
		_, err := tx.Exec(ctx, `INSERT INTO policy_training (policy_id, position, export_id, stored_export, run_name, epochs, epochs_from,
			trajectories, states, manifest_sha256) VALUES ($1, $2, $3::uuid, CASE WHEN NOT $10::boolean THEN $3::uuid END, $4, $5, $6, $7, $8, $9)`,
			p.ID, i, on.ExportID, on.Run, on.Epochs, on.EpochsFrom, on.Trajectories, on.States, on.ManifestSHA256, on.Deleted)
		if err != nil {
			return err
		}
	}
	return nil
}

// asTrained is what a policy was trained on, whether or not the exports still exist.
func asTrained(all []relabel.TrainedOn) []relabel.TrainedOn {
	var then []relabel.TrainedOn
	for _, on := range all {
		on.Deleted = false
		then = append(then, on)
	}
	return then
}

// FindTrained returns what policy versions say of training on an export, deleted or not, preferably
// with epochs of its run's trainer settings. CodeNotFound if none was trained on it.
func (s *Store) FindTrained(ctx context.Context, export relabel.ID) (relabel.TrainedOn, error) {
	return find[relabel.TrainedOn](ctx, s, "export", export, `SELECT export_id, run_name AS run, epochs, epochs_from, trajectories, states, manifest_sha256,
		stored_export IS NULL AS deleted FROM policy_training WHERE export_id = $1 ORDER BY epochs_from = 'trainer' DESC, policy_id LIMIT 1`, export)
}

// trainingChain is the chain of policy $1, with the number of steps to each.
const trainingChain = `WITH RECURSIVE chain AS (
	SELECT id, trained_from, 0 AS steps FROM policies WHERE id = $1
	UNION ALL SELECT parent.id, parent.trained_from, steps + 1 FROM chain JOIN policies parent ON parent.id = chain.trained_from)
	`

// CountTrained counts the tasks of a benchmark that trained a policy; see relabel.TrainedTasks.
func (s *Store) CountTrained(ctx context.Context, policy, benchmark relabel.ID) (n relabel.TrainedTasks, err error) {
	var exports, trained []relabel.ID
	err = s.pool.QueryRow(ctx, trainingChain+`SELECT coalesce(array_agg(DISTINCT pt.stored_export) FILTER (WHERE pt.stored_export IS NOT NULL), '{}'),
			count(DISTINCT pt.export_id) FILTER (WHERE pt.stored_export IS NULL) FROM chain JOIN policy_training pt ON pt.policy_id = chain.id`, policy).Scan(&exports, &n.Deleted)
	if err != nil {
		return n, classify(err)
	}
	for _, export := range exports {
		tasks, err := s.exportedTasks(ctx, export)
		if err != nil {
			return n, err
		}
		trained = append(trained, tasks...)
	}
	err = s.pool.QueryRow(ctx, `WITH has AS (SELECT * FROM tasks WHERE id = ANY ($2)),
			ta AS (SELECT tasks.* FROM benchmark_tasks bt JOIN tasks ON tasks.id = bt.task_id WHERE bt.benchmark_id = $1)
		SELECT (SELECT count(*) FROM ta), (SELECT count(*) FROM (SELECT ta.id FROM ta JOIN has ON `+sameInstance+`
			UNION SELECT ta.id FROM ta JOIN has ON `+sameCommit+`) same)`, benchmark, trained).Scan(&n.Of, &n.Tasks)
	return n, classify(err)
}

// exportedTasks lists the tasks with a labelled state in an export that is done. It never changes.
func (s *Store) exportedTasks(ctx context.Context, export relabel.ID) (tasks []relabel.ID, err error) {
	if known, is := s.exported.Load(export); is {
		return known.([]relabel.ID), nil
	}
	err = s.read(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT tr.id, tr.task_id, p.turns FROM export_parts ep CROSS JOIN LATERAL json_to_recordset(ep.trajectories) AS p(id uuid, turns integer)
			JOIN trajectories tr ON tr.id = p.id WHERE ep.export_id = $1 AND ep.done`, export)
		task, states := map[relabel.ID]relabel.ID{}, map[relabel.ID]int{}
		var id, of relabel.ID
		var turns int
		if _, err := pgx.ForEachRow(rows, []any{&id, &of, &turns}, func() error {
			task[id], states[id] = of, turns
			return nil
		}); err != nil {
			return err
		}
		err := countExcluded(ctx, tx, export, func(trajectory relabel.ID, _ string, excluded int) { states[trajectory] -= excluded })
		has := map[relabel.ID]bool{}
		for trajectory, left := range states {
			has[task[trajectory]] = has[task[trajectory]] || left > 0
		}
		tasks = nil
		for id, is := range has {
			if is {
				tasks = append(tasks, id)
			}
		}
		return err
	})
	if err == nil {
		s.exported.Store(export, tasks)
	}
	return tasks, classify(err)
}

// ListTrainingChain lists a policy, the one that its training started from, and so on; CodeNotFound if
// there is no such policy.
func (s *Store) ListTrainingChain(ctx context.Context, policy relabel.ID) ([]relabel.Policy, error) {
	chain, err := listAll[relabel.Policy](ctx, s, trainingChain+policySelect+` JOIN chain ON chain.id = po.id ORDER BY chain.steps`, policy)
	if err == nil && len(chain) == 0 {
		err = notFound("policy", policy, pgx.ErrNoRows)
	}
	return chain, err
}
