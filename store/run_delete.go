package store

import (
	"context"

	"relabel"
)

// sampledTrajectories bounds the trajectories of which calls and bytes are read; larger runs
// get estimates.
const sampledTrajectories = 200

// contentsSelect counts the contents of run $1. It extrapolates calls and bytes from at most $2
// trajectories, since the exact sums require reading the whole run.
const contentsSelect = `WITH had AS (SELECT count(*) AS n, coalesce(sum(turns), 0)::bigint AS turns FROM trajectories WHERE run_id = $1),
	sample AS MATERIALIZED (SELECT id FROM trajectories WHERE run_id = $1 ORDER BY hashtext(id::text), id LIMIT $2),
	part AS (SELECT count(*) AS n, coalesce(sum(c.n), 0) AS calls, coalesce(sum(o.n + ac.n), 0) AS bytes FROM sample sa,
		LATERAL (SELECT count(*) AS n FROM calls WHERE trajectory_id = sa.id) c,
		LATERAL (SELECT coalesce(sum(pg_column_size(x.content)), 0) AS n FROM observations x WHERE x.trajectory_id = sa.id) o,
		LATERAL (SELECT coalesce(sum(pg_column_size(x.*)), 0) AS n FROM actions x WHERE x.trajectory_id = sa.id) ac)
	SELECT (SELECT count(*) FROM iterations it WHERE it.run_id = $1) AS iterations, had.n AS trajectories, had.turns,
		coalesce(round(part.calls * had.n / nullif(part.n, 0)), 0)::bigint AS calls,
		(SELECT count(*) FROM trajectories tr JOIN reviews re ON re.trajectory_id = tr.id WHERE tr.run_id = $1) AS reviews,
		(SELECT count(*) FROM exports ex WHERE ex.run_id = $1) AS exports,
		coalesce(round(part.bytes * had.n / nullif(part.n, 0)), 0)::bigint AS bytes, '' AS refused, false AS deleting
	FROM had, part`

// CountRun counts the contents of a run and reports whether it can be deleted; calls and bytes
// of a run of more than sampledTrajectories are estimates. CodeNotFound if there is none.
func (s *Store) CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error) {
	run, err := s.FindRun(ctx, id)
	if err != nil {
		return relabel.RunContents{}, err
	}
	c, err := readOne[relabel.RunContents](ctx, s.pool, contentsSelect, id, sampledTrajectories)
	if err != nil {
		return c, classify(err)
	}
	c.Deleting = run.DeletingAt != nil
	c.Refused, err = inUse(ctx, s.pool, id)
	return c, classify(err)
}

// inUse returns why a run cannot be deleted now and the remedy, "" if it can.
func inUse(ctx context.Context, db querier, run relabel.ID) (why string, err error) {
	var running, open int
	var export, teacher string
	var regrades bool
	err = db.QueryRow(ctx, `SELECT (SELECT count(*) FROM iterations WHERE run_id = $1 AND state = 'running'),
		(SELECT count(*) FROM trajectories WHERE run_id = $1 AND state NOT IN ('done', 'failed', 'cancelled')),
		coalesce((SELECT id::text FROM exports WHERE run_id = $1 AND state IN ('queued', 'running') ORDER BY created_at LIMIT 1), ''),
		coalesce((SELECT po.name || '@' || po.version FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN policies po ON po.id = re.policy_id
			WHERE re.state IN ('queued', 'running') AND tr.run_id = $1 LIMIT 1), ''),
		EXISTS (SELECT FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id WHERE re.state IN ('queued', 'running') AND tr.run_id = $1)`,
		run).Scan(&running, &open, &export, &teacher, &regrades)
	switch {
	case err != nil:
		return "", err
	case running > 0 || open > 0:
		return "it has iterations that run: wait for them, or end them with `relabel run cancel RUN`", nil
	case export != "":
		return "the export " + export + " of it is being built: wait for it, or end it with `relabel export cancel " + export + "`", nil
	case teacher != "":
		return "trajectories of it are being relabelled: wait for that, or end it with `relabel run relabel RUN --teacher " + teacher + " --cancel`", nil
	case regrades:
		return "submissions of it are being graded again: wait for that, or end it with `relabel run verify RUN --cancel`", nil
	}
	return "", nil
}
