package mixer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/lease"
)

const (
	// writeLimit bounds one write to the store. Writes are not cut short by a shutdown,
	// so that it is known whether they took place.
	writeLimit = 30 * time.Second
	// closeLimit bounds the removal of a sandbox.
	closeLimit = 60 * time.Second
)

// claimsAtOnce bounds the claims that a process has under way. A queue that is filled
// hands out as many jobs as there are slots at once; the database answers no sooner for
// being asked a thousand times, and turns are to commit meanwhile.
const claimsAtOnce = 4

// ErrReleased says that the trajectory was released to the queue, because its run is paused
// or this worker stops. Its attempt is over; another attempt continues it.
var ErrReleased = errors.New("the trajectory was released to the queue")

// Config is what a Mixer needs.
type Config struct {
	Store       Store
	Environment Environment
	Owner       string        // names this worker; unique among live ones
	Lease       time.Duration // 0 means lease.Default
	Slots       Slots         // without Rollouts nothing is bounded
	// Wait is how long a rollout whose endpoint is down keeps its sandbox; 0 means DefaultWait.
	Wait time.Duration
	// Room, if set, fails while nothing new is to be begun, for want of an engine or of disk
	// space: wake-ups are then put off.
	Room func(ctx context.Context) error
	Log  zerolog.Logger

	Observe Observe
}

// Mixer rolls trajectories out. It is safe for concurrent use: each Roll is on its own.
type Mixer struct {
	store       Store
	environment Environment
	owner       string
	lease       time.Duration
	log         zerolog.Logger
	leases      *lease.Keeper[relabel.Fence]

	claiming, rollouts, waitingSlots, ending, verifying semaphore
	wait                                                time.Duration

	base      context.Context // ends with Cut
	cut       context.CancelFunc
	work      sync.WaitGroup // every rollout of the queue's, to its very end
	givenBack atomic.Int64

	room    func(ctx context.Context) error
	observe Observe
	present present
}

// New makes a Mixer. Store, Environment's functions and Owner must be there.
func New(c Config) *Mixer {
	if c.Lease <= 0 {
		c.Lease = lease.Default
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	m := &Mixer{store: c.Store, environment: c.Environment, owner: c.Owner, lease: c.Lease, log: c.Log, room: c.Room, observe: c.Observe,
		leases:   lease.NewKeeper(lease.Config[relabel.Fence]{Length: c.Lease, Check: c.Store.Look, Renew: c.Store.Renew, Log: c.Log}),
		claiming: newSemaphore(claimsAtOnce), rollouts: newSemaphore(c.Slots.Rollouts),
		waitingSlots: newSemaphore(c.Slots.Rollouts), wait: c.Wait, ending: newSemaphore(c.Slots.Rollouts * endingPerRollout),
		verifying: newSemaphore(c.Slots.Rollouts * verifyingPerRollout)}
	m.base, m.cut = context.WithCancel(context.Background())
	return m
}

// Drain requests the release of every trajectory that this mixer holds or will claim: each
// running turn is finished and committed, then its trajectory is released to the queue.
func (m *Mixer) Drain() { m.leases.Drain() }

// Cut ends what the queue's jobs began, running turns included: calls and commands are
// ended, and trajectories released to the queue.
func (m *Mixer) Cut() { m.cut() }

// Wait waits until everything that the queue's jobs began is over, and returns how many
// trajectories were released in all. It fails with ctx's error. Nothing may begin
// meanwhile: the queue is stopped first.
func (m *Mixer) Wait(ctx context.Context) (released int, err error) {
	over := make(chan struct{})
	go func() {
		m.work.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return int(m.givenBack.Load()), err
}

// Roll claims the trajectory whose turn it is and takes it to its end. It returns nil
// when that is done or failed; ErrReleased when it was given back, because ctx was
// cancelled, its run paused or the worker drains; CodeNotFound when nothing is to be
// claimed; CodeLeaseLost when it was cancelled or taken over on the way. Any other error
// is the store's: the trajectory is given back if that was possible, and is otherwise
// free when its lease runs out.
//
// free is called, once, as soon as the rollout is over (what then follows, late labels and
// verification, needs no slot of the queue), or gives up its slot because its endpoint is
// down.
func (m *Mixer) Roll(ctx context.Context, free func()) error {
	claim, since, err := m.claim(ctx)
	if err != nil {
		return err
	}
	life, releaseRequested, release := m.leases.Keep(ctx, claim.Fence, since)
	defer release()
	r := newRollout(m, life, claim)
	r.releaseRequested, r.free = releaseRequested, sync.OnceFunc(free)
	defer m.present.add(r.timer)()
	r.say(relabel.Running)
	err = r.live(life)
	r.labels.stop()
	r.closeSandbox(ctx)
	err = r.conclude(ctx, life, err)
	tell(m.observe.Ended, r.timer.sum())
	return err
}

// claim claims the trajectory whose turn it is, at since or later.
func (m *Mixer) claim(ctx context.Context) (claim relabel.Claim, since time.Time, err error) {
	release, err := m.claiming.acquire(ctx, nil)
	if err != nil {
		return claim, since, ErrReleased
	}
	defer release()
	if ctx.Err() != nil {
		return claim, since, ErrReleased
	}
	since = time.Now()
	claiming, cancel := detached(ctx, writeLimit)
	defer cancel()
	claim, err = m.store.ClaimNext(claiming, m.owner, m.lease)
	return claim, since, err
}

// detached returns a context that outlives ctx's cancellation, by limit at most.
func detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
