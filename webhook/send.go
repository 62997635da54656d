package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"relabel"
)

// keptAnswer is the part of a receiver's answer that is stored, in bytes.
const keptAnswer = 1 << 10

// send makes one attempt and returns its result; failed is why it is not delivered.
func (w *Worker) send(ctx context.Context, d relabel.Delivery, hook *relabel.Webhook) (try relabel.DeliveryTry, failed error) {
	try.State = relabel.DeliveryPending
	if hook == nil {
		failed = relabel.Errorf(relabel.CodeConflict, "the run no longer has a webhook")
		try.State, try.Answer = relabel.DeliveryFailed, failed.Error()
		return try, failed
	}
	try.URL = hook.URL
	req, err := w.request(ctx, d, *hook)
	if err != nil {
		try.Answer = plain(err)
		return try, err
	}
	res, err := w.client.Do(req)
	if relabel.CodeOf(err) == relabel.CodeAddressRefused { // a retry does not help
		try.State = relabel.DeliveryFailed
	}
	if err != nil {
		try.Answer = plain(err)
		return try, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, keptAnswer))
	try.Status, try.Answer = res.StatusCode, strings.ToValidUTF8(string(body), "�")
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300:
		try.State = relabel.DeliveryDelivered
		return try, nil
	case res.StatusCode == http.StatusGone: // the receiver wants no more deliveries
		try.State = relabel.DeliveryFailed
	}
	return try, errors.Join(fmt.Errorf("the receiver answered %s", res.Status), err)
}

// request is the delivery's HTTP request.
func (w *Worker) request(ctx context.Context, d relabel.Delivery, hook relabel.Webhook) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(d.Payload))
	if err != nil {
		return nil, err
	}
	id, now := d.ID.String(), time.Now().Unix()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "relabel/"+w.Version)
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now, 10))
	if hook.Secret == "" {
		return req, nil
	}
	secret, err := w.Secret(hook.Secret)
	if err != nil {
		return nil, err
	}
	k, err := key(secret)
	if err != nil {
		return nil, err
	}
	req.Header.Set("webhook-signature", signature(k, id, now, d.Payload))
	return req, nil
}

// plain is the error of a failed request without the address, which is stored separately.
func plain(err error) string {
	var wrapped *url.Error
	var ours *relabel.Error
	switch {
	case errors.As(err, &ours):
		return ours.Message // its cause is only logged
	case errors.As(err, &wrapped):
		return wrapped.Err.Error()
	}
	return err.Error()
}
