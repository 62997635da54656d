package server_test

import (
	"context"

	"relabel"
)

// The store in memory has no events; what is to be said of them is said of Postgres.
func (m *memory) PublishEvents(context.Context) (int64, error) { return 0, m.broken }

func (m *memory) ListEvents(context.Context, relabel.EventScope, int64, int) ([]relabel.Event, error) {
	return nil, m.broken
}

func (m *memory) KeepsEvents(context.Context, int64) (bool, error) { return false, m.broken }

func (m *memory) ListenEvents(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

func (m *memory) FindSpent(context.Context, relabel.ID) (relabel.Spent, error) {
	return relabel.Spent{}, m.broken
}

func (m *memory) ListDeliveries(context.Context, relabel.ID, relabel.Page) ([]relabel.Delivery, string, error) {
	return nil, "", m.broken
}

func (m *memory) Redeliver(context.Context, relabel.ID, relabel.ID) (relabel.Delivery, error) {
	return relabel.Delivery{}, errNone
}
