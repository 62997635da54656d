package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"relabel"
)

// QueueWebhook is the queue of webhooks' deliveries.
const QueueWebhook = "webhook"

const deliverySelect = `SELECT de.id, de.run_id, de.type, de.payload, de.state, de.tries, coalesce(de.url, '') AS url, de.status,
	coalesce(convert_from(de.answer, 'UTF8'), '') AS answer, de.tried_at, de.next_at, de.created_at, de.ended_at FROM webhook_deliveries de`

// SetSite stores the URL of this relabel's server and the default webhook of runs.
func (s *Store) SetSite(ctx context.Context, site relabel.Site) error {
	return s.exec(ctx, "UPDATE instance SET url = $1, webhook = $2", site.URL, site.Webhook)
}

// ListDeliveries lists the deliveries to a run's webhook, newest first.
func (s *Store) ListDeliveries(ctx context.Context, run relabel.ID, p relabel.Page) ([]relabel.Delivery, string, error) {
	l := list[relabel.Delivery]{query: deliverySelect, key: "de",
		keyOf: func(d relabel.Delivery) cursor { return cursor{d.CreatedAt, d.ID} }}
	l.where("de.run_id = %s", run)
	return l.page(ctx, s, p)
}

// FindDelivery returns a delivery and its run's current webhook, nil if there is none.
// CodeNotFound if there is no such delivery.
func (s *Store) FindDelivery(ctx context.Context, id relabel.ID) (relabel.Delivery, *relabel.Webhook, error) {
	d, err := readOne[relabel.Delivery](ctx, s.pool, deliverySelect+" WHERE de.id = $1", id)
	if err != nil {
		return d, nil, notFound("delivery", id, err)
	}
	var hook *relabel.Webhook
	err = s.pool.QueryRow(ctx, "SELECT coalesce(ru.webhook, i.webhook) FROM runs ru, instance i WHERE ru.id = $1", d.RunID).Scan(&hook)
	return d, hook, notFound("run", d.RunID, err)
}

// RecordDelivery stores the result of a try. It ignores a finished delivery.
func (s *Store) RecordDelivery(ctx context.Context, id relabel.ID, try relabel.DeliveryTry) error {
	var pause *time.Duration
	if try.State == relabel.DeliveryPending {
		pause = &try.Pause
	}
	return s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET tries = tries + 1, tried_at = clock_timestamp(), url = $2, status = $3, answer = $4, state = $5,
			next_at = clock_timestamp() + $6::interval, ended_at = CASE WHEN $5 <> 'pending' THEN clock_timestamp() END
			WHERE id = $1 AND state = 'pending'`, id, try.URL, try.Status, []byte(validUTF8(try.Answer)), try.State, pause)
		return err
	})
}

// Redeliver queues a delivery again, whatever its state. CodeNotFound if the run has no such
// delivery, CodeConflict if it has no webhook.
func (s *Store) Redeliver(ctx context.Context, run, id relabel.ID) (relabel.Delivery, error) {
	d, hook, err := s.FindDelivery(ctx, id)
	switch {
	case err != nil:
		return d, err
	case d.RunID != run:
		return d, notFound("delivery", id, pgx.ErrNoRows)
	case hook == nil:
		return d, relabel.Errorf(relabel.CodeConflict, "the run has no webhook; set one first")
	}
	err = s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "UPDATE webhook_deliveries SET state = 'pending', next_at = NULL, ended_at = NULL WHERE id = $1", id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM river_job WHERE kind = 'webhook' AND args->>'delivery_id' = $1 AND state <> 'running'", id.String()); err != nil {
			return err
		}
		return s.queueDelivery(ctx, tx, id)
	})
	if err != nil {
		return d, err
	}
	d, _, err = s.FindDelivery(ctx, id)
	return d, err
}

// queueDelivery inserts a delivery's job. tell_webhook does the same.
func (s *Store) queueDelivery(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	_, err := s.jobs.InsertTx(ctx, tx, relabel.DeliveryJob{DeliveryID: id}, &river.InsertOpts{Queue: QueueWebhook, MaxAttempts: deliveryTries})
	return err
}

// deliveryTries is one more than the number of pauses between tries.
const deliveryTries = 12

// reviveDeliveries makes delivery jobs available again whose worker is gone or that run for too
// long, and adds the missing jobs of pending deliveries.
func (s *Store) reviveDeliveries(ctx context.Context, tx pgx.Tx, gone []string) error {
	_, err := tx.Exec(ctx, `UPDATE river_job SET state = 'available', scheduled_at = now(), max_attempts = greatest(max_attempts, attempt + 1)
		WHERE kind = 'webhook' AND state = 'running' AND (attempted_by[cardinality(attempted_by)] = ANY ($1)
		OR attempted_at < now() - interval '2 minutes')`, gone)
	if err != nil {
		return err
	}
	lacking, err := readColumn[relabel.ID](ctx, tx,
		`SELECT de.id FROM webhook_deliveries de WHERE de.state = 'pending' AND NOT EXISTS (
			SELECT 1 FROM river_job j WHERE j.kind = 'webhook' AND j.args->>'delivery_id' = de.id::text
			AND j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`)
	if err != nil {
		return err
	}
	for _, id := range lacking {
		if err := s.queueDelivery(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}
