package policy

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How long to wait between tries: up to backoffBase·2^(n−1) after try n, at most
// backoffMax, drawn evenly from zero ("full jitter", so that callers that failed
// together do not come back together). A Retry-After is honoured up to retryAfterMax,
// and up to backoffBase is added to it.
const (
	backoffBase   = time.Second
	backoffMax    = 30 * time.Second
	retryAfterMax = 2 * time.Minute
)

// pause waits after try n failed, without a slot at the endpoint: a label that waits
// for its next try must not block a call that a rollout waits for.
func pause(ctx context.Context, n int) error {
	t := time.NewTimer(jitter(min(backoffBase<<min(n-1, 10), backoffMax)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// jitter draws evenly from 0 to d.
func jitter(d time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(d)) }

// retryAfter reads the header, which holds seconds or an HTTP date. What it says holds
// for the whole endpoint: other calls would get the same answer.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	wait := time.Duration(0)
	if s, err := strconv.ParseFloat(header, 64); err == nil && s > 0 {
		wait = time.Duration(min(s, retryAfterMax.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	if wait <= 0 {
		return 0
	}
	return min(wait, retryAfterMax) + jitter(backoffBase)
}
