package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"relabel"
	"relabel/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const length = 30 * time.Second

// keeper counts renewals, and answers each with the error that it holds.
type keeper struct {
	mu       sync.Mutex
	renewed  int
	answer   error
	hanging  bool // a renewal returns when its context ends
	lengths  map[time.Duration]bool
	deadline time.Duration // that the last renewal had
}

func (k *keeper) renew(ctx context.Context, length time.Duration) (bool, error) {
	k.mu.Lock()
	hanging, answer := k.hanging, k.answer
	k.renewed++
	if k.lengths == nil {
		k.lengths = map[time.Duration]bool{}
	}
	k.lengths[length] = true
	if end, ok := ctx.Deadline(); ok {
		k.deadline = time.Until(end)
	}
	k.mu.Unlock()
	if hanging {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return false, answer
}

func (k *keeper) set(answer error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answer = answer
}

func (k *keeper) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.renewed
}

func keep(ctx context.Context, k *keeper) (context.Context, func()) {
	return k.keep(ctx, time.Now(), length)
}

func (k *keeper) keep(ctx context.Context, since time.Time, length time.Duration) (context.Context, func()) {
	life, _, release := lease.NewSingleKeeper(length, k.renew, zerolog.Nop()).Keep(ctx, since)
	return life, release
}

// ended waits for life's end, an hour at most, and returns after how long it came; -1 where
// it did not.
func ended(life context.Context) time.Duration {
	since := time.Now()
	select {
	case <-life.Done():
		return time.Since(since)
	case <-time.After(time.Hour):
		return -1
	}
}

func TestALeaseIsRenewedForAsLongAsTheWorkTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		life, release := keep(t.Context(), k)
		if after := ended(life); after >= 0 {
			t.Errorf("life ended after %s: %v", after, context.Cause(life))
		}
		synctest.Wait()
		release()
		if n := k.count(); n < 3*int(time.Hour/length) || len(k.lengths) != 1 || !k.lengths[length] {
			t.Errorf("%d renewals in an hour, by %v", n, k.lengths)
		}
		if k.deadline <= 0 || k.deadline > length/3 {
			t.Errorf("a renewal may take %s", k.deadline)
		}
		n := k.count()
		time.Sleep(time.Hour)
		if k.count() != n {
			t.Error("it is renewed after its release")
		}
		if life.Err() == nil {
			t.Error("life goes on after the release")
		}
		if lease.Lost(context.Cause(life)) {
			t.Error("a lease that was released counts as lost")
		}
	})
}

func TestALeaseOfAnotherOwnerEndsTheWorkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		life, release := keep(t.Context(), k)
		defer release()
		time.Sleep(10 * length)
		k.set(fmt.Errorf("renew: %w", relabel.Errorf(relabel.CodeLeaseLost, "another's")))
		if after := ended(life); after < 0 || after > 2*time.Second || !lease.Lost(context.Cause(life)) {
			t.Errorf("life ended after %s: %v", after, context.Cause(life))
		}
		n := k.count()
		time.Sleep(time.Hour)
		if k.count() != n {
			t.Error("a lease that is lost is renewed")
		}
	})
}

// A database that is away may hold the lease still: the work goes on until the lease is over.
func TestALeaseThatCannotBeRenewedEndsTheWorkWhenItIsOver(t *testing.T) {
	for name, k := range map[string]*keeper{"refused": {answer: errors.New("the database is gone")}, "hanging": {hanging: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				life, release := keep(t.Context(), k)
				defer release()
				if after := ended(life); after < length || after > length+time.Second || !lease.Lost(context.Cause(life)) {
					t.Errorf("life ended after %s: %v", after, context.Cause(life))
				}
			})
		})
	}
}

func TestALeaseThatIsRenewedAgainInTimeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		life, release := keep(t.Context(), k)
		defer release()
		time.Sleep(500 * time.Millisecond) // between two renewals, so that none meets a change
		for range 10 {
			k.set(errors.New("the database is gone"))
			time.Sleep(length - 2*time.Second)
			k.set(nil)
			time.Sleep(2 * time.Second)
		}
		if life.Err() != nil {
			t.Errorf("life ended: %v", context.Cause(life))
		}
	})
}

// What was claimed long ago has less of its lease left.
func TestTheTimeOfTheClaimCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{answer: errors.New("the database is gone")}
		life, release := k.keep(t.Context(), time.Now().Add(-length/2), length)
		defer release()
		if after := ended(life); after < length/2-time.Second || after > length/2+time.Second {
			t.Errorf("life ended after %s", after)
		}
	})
}

// A worker that is stopped gives its work back, for which it needs the lease.
func TestALeaseIsRenewedWhileItsCancelledWorkIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		ctx, cancel := context.WithCancelCause(t.Context())
		life, release := keep(ctx, k)
		stopped := errors.New("the worker is stopped")
		cancel(stopped)
		<-life.Done()
		if cause := context.Cause(life); !errors.Is(cause, stopped) || lease.Lost(cause) {
			t.Errorf("life ended because of %v", cause)
		}
		n := k.count()
		time.Sleep(2 * length)
		if k.count() < n+6 {
			t.Errorf("%d renewals in two leases", k.count()-n)
		}
		release()
	})
}

// Release waits for a renewal that is in progress, so that nothing is written after it.
func TestReleaseWaitsForTheRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{hanging: true}
		_, release := keep(t.Context(), k)
		time.Sleep(length / 6)
		if k.count() != 1 {
			t.Fatalf("%d renewals", k.count())
		}
		since := time.Now()
		release()
		if took := time.Since(since); took != 0 {
			t.Errorf("the release took %s: the renewal was not ended", took)
		}
	})
}

// A short lease is renewed three times in its length.
func TestAShortLeaseIsRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		const short = 300 * time.Millisecond
		life, release := k.keep(t.Context(), time.Now(), short)
		defer release()
		time.Sleep(10*short + time.Millisecond)
		if life.Err() != nil || k.count() != 30 {
			t.Errorf("%d renewals in ten leases: %v", k.count(), context.Cause(life))
		}
	})
}

func TestLostTellsALostLeaseFromOtherErrors(t *testing.T) {
	for err, want := range map[error]bool{
		relabel.Errorf(relabel.CodeLeaseLost, "another's"):                      true,
		fmt.Errorf("write: %w", relabel.Errorf(relabel.CodeLeaseLost, "gone")):  true,
		relabel.Errorf(relabel.CodeUnavailable, "the database does not answer"): false,
		context.Canceled: false,
	} {
		if lease.Lost(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
