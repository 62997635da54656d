// Package webhook tells trainers what is over: it works the queue's jobs of deliveries,
// which the changes' own transactions have written. Bodies are signed as Standard
// Webhooks has it. A delivery comes at least once, always under the same id.
package webhook

import (
	"context"

	"relabel"
)

// Store keeps deliveries. Errors carry relabel codes.
type Store interface {
	// FindDelivery returns a delivery and the webhook that its run has now, nil where it
	// has none. CodeNotFound where there is no such delivery: its run was deleted.
	FindDelivery(ctx context.Context, id relabel.ID) (relabel.Delivery, *relabel.Webhook, error)
	// RecordDelivery keeps what came of a try.
	RecordDelivery(ctx context.Context, id relabel.ID, try relabel.DeliveryTry) error
}
