package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// pushesOf are the pushes of an export ex as JSON, newest first; null without any.
const pushesOf = `(SELECT json_agg(json_build_object('number', pu.number, 'destination', pu.destination, 'allow_secrets', pu.allow_secrets,
		'state', pu.state, 'sent_bytes', pu.sent_bytes, 'bytes', pu.bytes, 'place', coalesce(pu.place, ''), 'failure', coalesce(pu.failure, ''),
		'waiting', coalesce(pu.waiting, ''), 'waiting_since', pu.waiting_since, 'created_at', pu.created_at, 'ended_at', pu.ended_at) ORDER BY pu.number DESC)
		FROM export_pushes pu WHERE pu.export_id = ex.id)`

// openPush selects a push by its export $1 and number $2, if it is open.
const openPush = " WHERE export_id = $1 AND number = $2 AND state IN ('queued', 'running')"

// CreatePush stores a queued push and queues its job. If a push to the same place is open, it returns the number of that.
func (s *Store) CreatePush(ctx context.Context, export relabel.ID, p relabel.ExportPush) (number int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		run, err := readValue[relabel.ID](ctx, tx, "SELECT run_id FROM exports WHERE id = $1", export)
		if err != nil {
			return notFound("export", export, err)
		}
		if err := keepRun(ctx, tx, itself, run); err != nil {
			return err
		}
		var state relabel.ExportState
		var folder string
		if err := tx.QueryRow(ctx, "SELECT state, folder FROM exports WHERE id = $1 FOR UPDATE", export).Scan(&state, &folder); err != nil {
			return notFound("export", export, err)
		}
		if state != relabel.ExportDone {
			return relabel.Errorf(relabel.CodeConflict, "the export is %s: only one that is done can be pushed", state)
		}
		number, err = findOpenPush(ctx, tx, export, p.Destination)
		if number > 0 || err != nil {
			return err
		}
		number, err = readValue[int](ctx, tx, `INSERT INTO export_pushes (export_id, number, destination, allow_secrets)
			VALUES ($1, (SELECT coalesce(max(number), 0) + 1 FROM export_pushes WHERE export_id = $1), $2, $3) RETURNING number`,
			export, p.Destination, noneAsNull(p.AllowSecrets))
		if err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, folder, relabel.ExportJob{ExportID: export, Step: relabel.PushExport, Part: number})
	})
	return number, err
}

// findOpenPush returns the open push of an export to a place; 0 if no push is open. CodeConflict if one to another place is.
func findOpenPush(ctx context.Context, tx pgx.Tx, export relabel.ID, destination string) (number int, err error) {
	var to string
	err = tx.QueryRow(ctx, "SELECT number, destination FROM export_pushes WHERE export_id = $1 AND state IN ('queued', 'running')", export).Scan(&number, &to)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err == nil && to != destination:
		return 0, relabel.Errorf(relabel.CodeConflict, "the export is being pushed to %s: wait for that push, or cancel it", to)
	}
	return number, err
}

// CancelPush cancels the open push of an export; its job ends soon. CodeConflict if there is none.
func (s *Store) CancelPush(ctx context.Context, export relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		none := func() error {
			if _, err := readValue[relabel.ExportState](ctx, tx, "SELECT state FROM exports WHERE id = $1", export); err != nil {
				return notFound("export", export, err)
			}
			if again {
				return nil
			}
			return relabel.Errorf(relabel.CodeConflict, "no push of the export is open")
		}
		return execOrElse(ctx, tx, none, `UPDATE export_pushes SET state = 'cancelled', waiting = NULL, waiting_since = NULL, ended_at = clock_timestamp()
			WHERE export_id = $1 AND state IN ('queued', 'running')`, export)
	})
}

// ReportPush records that an open push runs, with the bytes that were sent, of those of all files, and ends a recorded
// wait. It reports whether the push is open.
func (s *Store) ReportPush(ctx context.Context, export relabel.ID, number int, sent, of int64) (open bool, err error) {
	n, err := s.execCount(ctx, "UPDATE export_pushes SET state = 'running', sent_bytes = $3, bytes = $4, waiting = NULL, waiting_since = NULL"+openPush,
		export, number, min(sent, of), of)
	return n > 0, err
}

// FinishPush moves an open push to done with its place. It ignores one that is over or missing.
func (s *Store) FinishPush(ctx context.Context, export relabel.ID, number int, place string) error {
	return s.exec(ctx, "UPDATE export_pushes SET state = 'done', place = $3, sent_bytes = bytes, waiting = NULL, waiting_since = NULL, ended_at = clock_timestamp()"+openPush,
		export, number, place)
}

// FailPush moves an open push to failed with a reason that is safe to show. It ignores one that is over or missing.
func (s *Store) FailPush(ctx context.Context, export relabel.ID, number int, reason string) error {
	return s.exec(ctx, "UPDATE export_pushes SET state = 'failed', failure = $3, waiting = NULL, waiting_since = NULL, ended_at = clock_timestamp()"+openPush,
		export, number, validUTF8(reason))
}

// PushWaits records why and since when an open push waits. It reports whether the reason is new.
func (s *Store) PushWaits(ctx context.Context, export relabel.ID, number int, reason string) (news bool, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		err := tx.QueryRow(ctx, `UPDATE export_pushes pu SET waiting = $3, waiting_since = coalesce(pu.waiting_since, clock_timestamp())
			FROM (SELECT export_id, number, waiting FROM export_pushes`+openPush+` FOR UPDATE) had
			WHERE pu.export_id = had.export_id AND pu.number = had.number RETURNING had.waiting IS DISTINCT FROM pu.waiting`,
			export, number, validUTF8(reason)).Scan(&news)
		return ignoreNone(err)
	})
	return news, err
}
