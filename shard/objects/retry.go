package objects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"relabel"
)

// Limits of retries.
const (
	mostAttempts = 4                      // of one request
	firstPause   = 400 * time.Millisecond // before the second attempt; it doubles for each further one
	longestPause = 10 * time.Second       // that a server may ask for
)

// passing are the statuses that are worth a retry. A conflict is one with a concurrent request for the same object or
// folder, for example when two workers test the same destination.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// passingCodes are error codes with other statuses that are worth a retry. The token service of AWS throttles with 400.
var passingCodes = []string{"RequestTimeout", "IDPCommunicationError", "Throttling", "ThrottlingException"}

// repeat calls attempt until it succeeds, fails for a reason that lasts, or has failed too often.
func repeat(ctx context.Context, attempt func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || n == mostAttempts || ctx.Err() != nil || !passes(err) {
			return err
		}
		if ended := sleep(ctx, max(asked(err), pause/2+rand.N(pause/2))); ended != nil {
			return fmt.Errorf("%w, after %w", ended, err)
		}
		pause *= 2
	}
}

// passes reports whether a retry may succeed after an error.
func passes(err error) bool {
	var refused *Error
	var keys *KeysError // was repeated already
	var setting SettingError
	switch {
	case errors.As(err, &keys), errors.Is(err, ErrNoKeys), errors.As(err, &setting), relabel.CodeOf(err) == relabel.CodeAddressRefused:
		return false
	case errors.As(err, &refused):
		return slices.Contains(passing, refused.Status) || slices.Contains(passingCodes, refused.Code)
	}
	return true // the connection failed
}

// asked returns how long the server asks to wait.
func asked(err error) time.Duration {
	var refused *Error
	if errors.As(err, &refused) {
		return min(refused.pause, longestPause)
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
