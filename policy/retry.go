package policy

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Waits between tries: up to backoffBase·2^(n−1) after try n, at most backoffMax, drawn evenly from
// zero ("full jitter", so that callers that failed together do not retry together). A Retry-After is
// honoured up to retryAfterMax, plus up to backoffBase.
const (
	backoffBase   = time.Second
	backoffMax    = 30 * time.Second
	retryAfterMax = 2 * time.Minute
)

// pause waits after the failure of try n. It holds no slot at the endpoint: a label that waits for its
// next try must not block a call that a rollout waits for.
func pause(ctx context.Context, n int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(jitter(min(backoffBase<<min(n-1, 10), backoffMax))):
		return nil
	}
}

// jitter draws evenly from 0 to d.
func jitter(d time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(d)) }

// retryAfter reads the header: seconds or an HTTP date. It applies to all calls at the endpoint.
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
