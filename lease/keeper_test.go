package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/lease"
)

// claims are the claims of a fake database. Fences are numbers.
type claims struct {
	mu               sync.Mutex
	checks, renewals int
	paused           map[int]bool
	lost             map[int]bool
	passedOver       map[int]bool // not renewed
	err              error
}

func (c *claims) Check(_ context.Context, fences []int) ([]relabel.Standing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks++
	standings := make([]relabel.Standing, len(fences))
	for i, f := range fences {
		standings[i] = relabel.Standing{Held: !c.lost[f], Paused: c.paused[f]}
	}
	return standings, c.err
}

func (c *claims) Renew(_ context.Context, fences []int, _ time.Duration) ([]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renewals++
	renewed := make([]bool, len(fences))
	for i, f := range fences {
		renewed[i] = !c.passedOver[f]
	}
	return renewed, c.err
}

// counts returns how often the claims were checked and renewed.
func (c *claims) counts() (checks, renewals int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks, c.renewals
}

// lose takes a claim away.
func (c *claims) lose(fence int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost[fence] = true
}

func newKeeper(c *claims) *lease.Keeper[int] {
	return lease.NewKeeper(lease.Config[int]{Length: lease.Default, Check: c.Check, Renew: c.Renew, Log: zerolog.Nop()})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAllClaimsAreRenewedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claims{}
		k := newKeeper(c)
		var releases []func()
		var lives []context.Context
		for i := range 64 {
			life, _, release := k.Keep(t.Context(), i, time.Now())
			releases, lives = append(releases, release), append(lives, life)
			if i%8 == 0 {
				time.Sleep(time.Second)
			}
		}
		synctest.Wait()
		checksBefore, renewalsBefore := c.counts()
		time.Sleep(10 * lease.Default)
		synctest.Wait()
		checks, renewals := c.counts()
		if n := renewals - renewalsBefore; n > 60 || n < 30 {
			t.Errorf("%d renewals in ten leases", n)
		}
		if n, want := checks-checksBefore, int(10*lease.Default/lease.CheckPeriod); n < want-1 || n > want+1 {
			t.Errorf("%d checks, not %d", n, want)
		}
		for i, release := range releases {
			if lives[i].Err() != nil {
				t.Errorf("claim %d is lost", i)
			}
			release()
		}
		// A goroutine that still ran would fail the bubble.
	})
}

func TestAClaimThatCannotBeRenewedCostsNoOtherItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claims{passedOver: map[int]bool{1: true}}
		k := newKeeper(c)
		stuck, _, releaseStuck := k.Keep(t.Context(), 1, time.Now())
		other, _, releaseOther := k.Keep(t.Context(), 2, time.Now())
		defer releaseStuck()
		defer releaseOther()
		after := ended(stuck)
		if after < lease.Default || after > lease.Default+lease.CheckPeriod || !lease.Lost(context.Cause(stuck)) {
			t.Errorf("lost after %s: %v", after, context.Cause(stuck))
		}
		time.Sleep(10 * lease.Default)
		if other.Err() != nil {
			t.Error("the other claim is lost")
		}
	})
}

func TestALostClaimEndsItsWorkAloneAtTheNextCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claims{lost: map[int]bool{}}
		k := newKeeper(c)
		lost, _, releaseLost := k.Keep(t.Context(), 1, time.Now())
		other, _, releaseOther := k.Keep(t.Context(), 2, time.Now())
		defer releaseLost()
		defer releaseOther()
		time.Sleep(time.Minute)
		synctest.Wait()
		c.lose(1)
		if after := ended(lost); after > lease.CheckPeriod || !lease.Lost(context.Cause(lost)) {
			t.Errorf("lost after %s: %v", after, context.Cause(lost))
		}
		if other.Err() != nil {
			t.Error("the other claim is lost")
		}
	})
}

func TestReleaseIsRequestedOfPausedClaimsAndOfAllInADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claims{paused: map[int]bool{1: true}}
		k := newKeeper(c)
		paused, pausedRequest, releasePaused := k.Keep(t.Context(), 1, time.Now())
		_, otherRequest, releaseOther := k.Keep(t.Context(), 2, time.Now())
		defer releasePaused()
		defer releaseOther()
		time.Sleep(2 * lease.CheckPeriod)
		synctest.Wait()
		if !isClosed(pausedRequest) || isClosed(otherRequest) || paused.Err() != nil || k.Draining() {
			t.Error("the release of the paused claim, and of no other, is to be requested")
		}
		k.Drain()
		_, laterRequest, releaseLater := k.Keep(t.Context(), 3, time.Now())
		defer releaseLater()
		if !isClosed(otherRequest) || !isClosed(laterRequest) || !k.Draining() {
			t.Error("a drain requests the release of present and future claims")
		}
	})
}

func TestADatabaseThatDoesNotAnswerCostsTheLeaseAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(&claims{err: errors.New("the database does not answer")})
		life, _, release := k.Keep(t.Context(), 1, time.Now())
		defer release()
		if after := ended(life); after < lease.Default || after > lease.Default+lease.CheckPeriod || !lease.Lost(context.Cause(life)) {
			t.Errorf("lost after %s: %v", after, context.Cause(life))
		}
	})
}

func TestTheReleaseOfAnEarlierClaimLeavesALaterOneOfTheSameFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &claims{lost: map[int]bool{}}
		k := newKeeper(c)
		_, _, releaseEarlier := k.Keep(t.Context(), 1, time.Now())
		later, _, releaseLater := k.Keep(t.Context(), 1, time.Now())
		defer releaseLater()
		releaseEarlier()
		c.lose(1)
		if after := ended(later); after < 0 || after > lease.CheckPeriod || !lease.Lost(context.Cause(later)) {
			t.Errorf("lost after %s: %v", after, context.Cause(later))
		}
	})
}
