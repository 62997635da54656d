// Package webhook sends events to trainers: it processes the queue's delivery jobs, which the
// transactions of the events inserted. Bodies are signed as specified by Standard Webhooks. A
// delivery arrives at least once, always with the same id.
package webhook

import (
	"context"

	"relabel"
)

// Store keeps deliveries. Errors carry relabel codes.
type Store interface {
	// FindDelivery returns a delivery and the current webhook of its run, nil if it has none.
	// CodeNotFound means that the run was deleted.
	FindDelivery(ctx context.Context, id relabel.ID) (relabel.Delivery, *relabel.Webhook, error)
	// RecordDelivery stores the result of an attempt.
	RecordDelivery(ctx context.Context, id relabel.ID, try relabel.DeliveryTry) error
}
