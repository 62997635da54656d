// Package lease keeps the leases of claimed work: it renews them in the background, ends
// work whose lease is lost, and passes on requests to release it.
package lease

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// Default is how long a claim holds without renewal. Workers look for abandoned work every
// five seconds, so a trajectory is taken over within a minute.
const Default = 40 * time.Second

const (
	// CheckPeriod is the time between two checks of a Keeper: a cancelled claim is lost this
	// soon.
	CheckPeriod = 500 * time.Millisecond
	// requestLimit bounds a check and a renewal of a Keeper. A database that hangs costs one
	// of them; the keeper expires leases by its own clock in between.
	requestLimit = 2 * time.Second
	// singlePeriod bounds the time between two renewals of a SingleKeeper.
	singlePeriod = time.Second
)

// ErrLost is the cause of a context whose lease is lost.
var ErrLost = errors.New("the lease is lost")

// Lost reports whether err says that a lease is lost.
func Lost(err error) bool {
	return relabel.CodeOf(err) == relabel.CodeLeaseLost || errors.Is(err, ErrLost)
}

// Config is what a Keeper needs. F is a claim's fence.
type Config[F comparable] struct {
	Length time.Duration // of a lease
	// Check reports how each claim stands, in the order of claims.
	Check func(ctx context.Context, claims []F) ([]relabel.Standing, error)
	// Renew extends the leases that it can and reports which, in the order of claims. The
	// next tick retries the others.
	Renew func(ctx context.Context, claims []F, length time.Duration) ([]bool, error)
	Log   zerolog.Logger
}

// NewKeeper returns a keeper of all the claims of a process. It checks all of them in one
// request every CheckPeriod and renews all of them in one request every third of a lease.
func NewKeeper[F comparable](c Config[F]) *Keeper[F] {
	return &Keeper[F]{Config: c, period: CheckPeriod, limit: requestLimit, held: map[F]*claim[F]{}}
}

// SingleKeeper keeps the lease of one claim.
type SingleKeeper struct {
	keeper *Keeper[struct{}]
}

// NewSingleKeeper returns a keeper of one claim. renew extends its lease and reports whether
// its release is requested; CodeLeaseLost: the claim is another owner's, or cancelled.
func NewSingleKeeper(length time.Duration, renew func(ctx context.Context, length time.Duration) (releaseRequested bool, err error), log zerolog.Logger) SingleKeeper {
	check := func(ctx context.Context, _ []struct{}) ([]relabel.Standing, error) {
		requested, err := renew(ctx, length)
		if Lost(err) {
			return []relabel.Standing{{}}, nil
		}
		return []relabel.Standing{{Held: true, Paused: requested}}, err
	}
	return SingleKeeper{&Keeper[struct{}]{
		Config: Config[struct{}]{Length: length, Check: check, Log: log},
		period: min(length/3, singlePeriod), limit: length / 3, held: map[struct{}]*claim[struct{}]{},
	}}
}

// Keep is Keeper.Keep for the one claim.
func (k SingleKeeper) Keep(ctx context.Context, since time.Time) (life context.Context, releaseRequested <-chan struct{}, release func()) {
	return k.keeper.Keep(ctx, struct{}{}, since)
}
