package mixer

import (
	"cmp"
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
	// writeLimit bounds one write to the store. A shutdown does not cancel writes, so that their
	// outcome is known.
	writeLimit = 30 * time.Second
	// closeLimit bounds the removal of a sandbox.
	closeLimit = 60 * time.Second
	// claimsAtOnce bounds concurrent claims of a process: a full queue starts a job per slot at once,
	// and turns need the database too.
	claimsAtOnce = 4
)

// ErrReleased means that the trajectory was released to the queue, because its run is paused or this
// worker stops. Another attempt continues it.
var ErrReleased = errors.New("the trajectory was released to the queue")

// Config is what a Mixer needs.
type Config struct {
	Store       Store
	Environment Environment
	Owner       string           // names this worker; unique among live ones
	Kind        relabel.TaskKind // whose trajectories, and those of kinds alike, it rolls out; "" means repair
	Lease       time.Duration    // 0 means lease.Default
	Slots       Slots            // if Rollouts is 0 nothing is bounded
	// Wait is how long a rollout whose endpoint is down keeps its sandbox; 0 means DefaultWait.
	Wait time.Duration
	// Room, if set, fails while no new work is to be claimed, because no engine or too little disk
	// space is available. Wake-ups are postponed then.
	Room func(ctx context.Context) error
	Log  zerolog.Logger

	Observe Observe
}

// Mixer rolls trajectories out. It is safe for concurrent use; calls of Roll are independent.
type Mixer struct {
	store       Store
	environment Environment
	owner       string
	kind        relabel.TaskKind
	lease       time.Duration
	wait        time.Duration
	log         zerolog.Logger
	leases      *lease.Keeper[relabel.Fence]
	room        func(ctx context.Context) error
	observe     Observe

	claiming, rollouts, waitingSlots, ending, verifying semaphore

	base     context.Context // ends with Cut
	cut      context.CancelFunc
	work     sync.WaitGroup // every rollout of the queue, including its end
	releases atomic.Int64
	timers   sync.Map // the *phaseTimer of each running rollout
}

// New makes a Mixer. Store, Environment's functions and Owner must be set.
func New(c Config) *Mixer {
	if c.Lease <= 0 {
		c.Lease = lease.Default
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	m := &Mixer{
		store: c.Store, environment: c.Environment, owner: c.Owner, kind: cmp.Or(c.Kind, relabel.Repair), lease: c.Lease, wait: c.Wait, log: c.Log, room: c.Room, observe: c.Observe,
		leases:   lease.NewKeeper(lease.Config[relabel.Fence]{Length: c.Lease, Check: c.Store.Look, Renew: c.Store.Renew, Log: c.Log}),
		claiming: newSemaphore(claimsAtOnce), rollouts: newSemaphore(c.Slots.Rollouts), waitingSlots: newSemaphore(c.Slots.Rollouts),
		ending: newSemaphore(c.Slots.Rollouts * endingPerRollout), verifying: newSemaphore(c.Slots.Rollouts),
	}
	m.base, m.cut = context.WithCancel(context.Background())
	return m
}

// Drain requests the release of every trajectory that this mixer holds or will claim: each
// running turn is finished and committed, then its trajectory is released to the queue.
func (m *Mixer) Drain() { m.leases.Drain() }

// Cut cancels the work of the queue's jobs, including running turns, and releases their trajectories
// to the queue.
func (m *Mixer) Cut() { m.cut() }

// Wait waits until all work of the queue's jobs has ended, and returns the number of trajectories
// that were released in all. It fails with ctx's error. The queue must be stopped before.
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
	return int(m.releases.Load()), err
}

// Roll claims the next trajectory and takes it to its end. It returns nil when the trajectory is done
// or failed, ErrReleased when it was released because ctx was cancelled, its run paused or the worker
// drains, CodeNotFound when no trajectory can be claimed, and CodeLeaseLost when it was cancelled or
// taken over. Any other error is the store's: the trajectory is released if possible, and otherwise
// when its lease expires.
//
// free is called once, when the rollout no longer needs its slot of the queue: when it has ended, or
// when it releases its slot because its endpoint is down.
func (m *Mixer) Roll(ctx context.Context, free func()) error {
	claim, since, err := m.claim(ctx)
	if err != nil {
		return err
	}
	life, releaseRequested, release := m.leases.Keep(ctx, claim.Fence, since)
	defer release()
	r := newRollout(m, life, claim)
	r.releaseRequested, r.free = releaseRequested, sync.OnceFunc(free)
	m.timers.Store(r.timer, nil)
	defer m.timers.Delete(r.timer)
	r.say(relabel.Running)
	err = r.live(life)
	r.labels.stop()
	r.closeSandbox(ctx)
	err = r.conclude(ctx, life, err)
	tell(m.observe.Ended, AttemptEnd{Claim: claim, StartedAt: since, Spent: r.timer.sum(), Reason: r.ended, Failure: r.broke, Err: err})
	return err
}

// claim claims the next trajectory, at since or later.
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
	claim, err = m.store.ClaimNext(claiming, m.owner, m.kind, m.lease)
	return claim, since, err
}

// detached returns a context that outlives ctx's cancellation, by limit at most.
func detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
