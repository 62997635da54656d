package server

import (
	"context"
	"errors"
	"net/http"

	"relabel"
	"relabel/api"
)

func (s *site) addWebhooks() {
	add(s, operation(http.MethodGet, "/v1/runs/{id}/webhooks", "runs", "list-deliveries", "List a run's webhook deliveries",
		"Each delivery with its body, its tries and the receiver's last answer, newest first."), s.listDeliveries)
	add(s, action("/v1/runs/{id}/webhooks/{delivery}/redeliver", "runs", "redeliver", "Send a delivery again",
		"Sends a delivery again, under the same webhook-id, to the run's current webhook, in any state."), s.redeliver)
}

// checkAddress refuses what may not be connected to, on a field.
func (s *site) checkAddress(url, field string) error {
	if s.CheckAddress == nil {
		return nil
	}
	err := s.CheckAddress(url)
	var known *relabel.Error
	if errors.As(err, &known) {
		return known.On(field)
	}
	return err
}

// checkNotices refuses an invalid budget or webhook, and a webhook address that is not allowed.
func (s *site) checkNotices(b *relabel.Budget, w *relabel.Webhook) error {
	if b != nil {
		if err := b.Validate(); err != nil {
			return err
		}
	}
	if w == nil || *w == (relabel.Webhook{}) {
		return nil
	}
	if err := w.Validate(); err != nil {
		return err
	}
	return s.checkAddress(w.URL, "webhook.url")
}

func (s *site) listDeliveries(ctx context.Context, in *struct {
	IDPath
	api.PageQuery
}) (*of[api.Page[relabel.Delivery]], error) {
	if _, err := s.Store.FindRun(ctx, in.ID); err != nil {
		return nil, err
	}
	return pageOf(s.Store.ListDeliveries(ctx, in.ID, page(in.PageQuery)))
}

func (s *site) redeliver(ctx context.Context, in *struct {
	IDPath
	Delivery relabel.ID `path:"delivery" format:"uuid" doc:"The delivery's id."`
}) (*of[relabel.Delivery], error) {
	return one(s.Store.Redeliver(ctx, in.ID, in.Delivery))
}
