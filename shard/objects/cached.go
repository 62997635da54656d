package objects

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	renewal  = 5 * time.Minute  // before their end keys are replaced
	keysTime = 10 * time.Second // for one request for keys, while all other requests wait
)

// cached keeps keys that end. It is safe for concurrent use.
type cached[T any] struct {
	// fetch returns new keys and when they end; the zero time: never.
	fetch func(context.Context) (T, time.Time, error)

	mu   sync.Mutex
	keys T
	ends time.Time
	have bool
}

// get returns keys that are valid.
func (c *cached[T]) get(ctx context.Context) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have && (c.ends.IsZero() || time.Until(c.ends) > renewal) {
		return c.keys, nil
	}
	keys, ends, err := c.fetch(ctx)
	if err != nil && c.have && time.Now().Before(c.ends) {
		return c.keys, nil // the next request tries again
	}
	if err != nil {
		return keys, err
	}
	c.keys, c.ends, c.have = keys, ends, true
	return keys, nil
}

// KeysError is a request for keys that failed, also after retries.
type KeysError struct{ cause error }

// Error implements error.
func (e *KeysError) Error() string { return "the request for keys failed: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *KeysError) Unwrap() error { return e.cause }

// askForKeys sends a request to a server of keys, repeats it if it fails for a reason that passes, and returns the answer.
func askForKeys(ctx context.Context, client *http.Client, build func(context.Context) (*http.Request, error)) (body []byte, err error) {
	err = repeat(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, keysTime)
		defer cancel()
		q, err := build(ctx)
		if err != nil {
			return err
		}
		q.Header.Set("User-Agent", "relabel")
		a, err := exchange(client, q)
		if err != nil {
			return err
		}
		defer a.Body.Close()
		body, err = io.ReadAll(io.LimitReader(a.Body, mostAnswer))
		return err
	})
	if err != nil {
		return nil, &KeysError{err}
	}
	return body, nil
}
