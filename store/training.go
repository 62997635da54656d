package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

func insertTraining(ctx context.Context, tx pgx.Tx, p relabel.Policy) error {
	for i, on := range p.TrainedOn {
		_, err := tx.Exec(ctx, `INSERT INTO policy_training (policy_id, position, export_id, stored_export, run_name, epochs, epochs_from,
			trajectories, states, manifest_sha256) VALUES ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9)`,
			p.ID, i, on.ExportID, on.Run, on.Epochs, on.EpochsFrom, on.Trajectories, on.States, on.ManifestSHA256)
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

// ListTrainingChain lists a policy, the one that its training started from, and so on; CodeNotFound if
// there is no such policy.
func (s *Store) ListTrainingChain(ctx context.Context, policy relabel.ID) ([]relabel.Policy, error) {
	chain, err := listAll[relabel.Policy](ctx, s, `WITH RECURSIVE chain AS (
			SELECT id, trained_from, 0 AS steps FROM policies WHERE id = $1
			UNION ALL SELECT parent.id, parent.trained_from, steps + 1 FROM chain JOIN policies parent ON parent.id = chain.trained_from)
		`+policySelect+` JOIN chain ON chain.id = po.id ORDER BY chain.steps`, policy)
	if err == nil && len(chain) == 0 {
		err = notFound("policy", policy, pgx.ErrNoRows)
	}
	return chain, err
}
