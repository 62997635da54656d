package mixer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// lookPeriod is between two looks at how what is held stands in the database: a cancelled
// trajectory is let go this soon.
const lookPeriod = 500 * time.Millisecond

// lookLimit bounds a look and a renewal. A database that hangs costs one; whether a
// lease has run out is asked of the clock here in between.
const lookLimit = 2 * time.Second

// errLeaseLost cancels a rollout whose trajectory is another's by now, or nobody's.
var errLeaseLost = errors.New("the lease is lost")

// heart keeps the leases of all that this process holds, in one goroutine that lives
// while anything is held. Every lookPeriod it asks how all of it stands; every third of
// a lease it renews all of it; each in one statement.
type heart struct {
	store Store
	lease time.Duration
	log   zerolog.Logger

	mu       sync.Mutex
	held     map[relabel.Fence]*hold
	draining bool
	ailing   bool               // the last statement failed
	stop     context.CancelFunc // of the goroutine; nil while none runs
	stopped  chan struct{}
}

// hold is one trajectory in the heart's care.
type hold struct {
	fence    relabel.Fence
	lose     context.CancelCauseFunc
	giveBack chan struct{} // closed when it is to be given back
	asked    bool          // giveBack is closed
	sure     time.Time     // the lease was a whole one at this time, or later
}

// keep takes a claimed trajectory into care until letGo; it was claimed at since or
// later. life ends with ctx, and with errLeaseLost as its cause when the trajectory is
// cancelled, taken over, or its lease not to be renewed in time: then everything is to
// be abandoned at once. giveBack is closed when the run is paused or the worker drains:
// then the turn in hand is finished first. Leases are renewed while ctx is cancelled,
// too: giving back needs a live one.
func (h *heart) keep(ctx context.Context, f relabel.Fence, since time.Time) (life context.Context, giveBack <-chan struct{}, letGo func()) {
	life, lose := context.WithCancelCause(ctx)
	k := &hold{fence: f, lose: lose, giveBack: make(chan struct{}), sure: since}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[f] = k
	if h.draining {
		k.ask()
	}
	if h.stop == nil {
		beating, stop := context.WithCancel(context.WithoutCancel(ctx))
		h.stop, h.stopped = stop, make(chan struct{})
		go h.beat(beating, h.stopped)
	}
	return life, k.giveBack, func() { h.letGo(k) }
}

// letGo ends the care. With the last one the goroutine ends.
func (h *heart) letGo(k *hold) {
	h.mu.Lock()
	delete(h.held, k.fence)
	stop, stopped := h.stop, h.stopped
	last := len(h.held) == 0
	if last {
		h.stop = nil
	}
	h.mu.Unlock()
	if last && stop != nil {
		stop()
		<-stopped
	}
	k.lose(nil)
}

// drain asks for everything back, and for all that is yet to come.
func (h *heart) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	for _, k := range h.held {
		k.ask()
	}
}

// drains reports whether everything is asked back.
func (h *heart) drains() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// ask asks for the trajectory back. The heart's lock is held.
func (k *hold) ask() {
	if !k.asked {
		k.asked = true
		close(k.giveBack)
	}
}

func (h *heart) beat(ctx context.Context, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.bury()
		h.look(ctx)
		h.renew(ctx)
	}
}

// bury loses what could not be renewed for the length of a lease: it may be another's by
// now, whether or not the database can be asked.
func (h *heart) bury() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.held {
		if time.Since(k.sure) >= h.lease {
			k.lose(errLeaseLost)
		}
	}
}

// older returns what is held and has had no whole lease since the given age, with its
// fences in the same order, and how long the eldest has until its lease runs out.
func (h *heart) older(age time.Duration) (holds []*hold, fences []relabel.Fence, left time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left = lookLimit
	for _, k := range h.held {
		since := time.Since(k.sure)
		if since < age || since >= h.lease {
			continue
		}
		holds, fences = append(holds, k), append(fences, k.fence)
		left = min(left, h.lease-since)
	}
	return holds, fences, left
}

// look asks how everything stands, and passes on what it hears.
func (h *heart) look(ctx context.Context) {
	holds, fences, left := h.older(0)
	if len(holds) == 0 {
		return
	}
	looking, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	standings, err := h.store.Look(looking, fences)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fails(ctx, err, "how trajectories stand is not to be read") {
		return
	}
	for i, k := range holds {
		switch {
		case !standings[i].Held:
			k.lose(errLeaseLost)
		case standings[i].Paused:
			k.ask()
		}
	}
}

// renew renews everything that is due. What is soon due goes along, so that trajectories
// that were claimed at different times are renewed together.
func (h *heart) renew(ctx context.Context) {
	if due, _, _ := h.older(h.lease / 3); len(due) == 0 {
		return
	}
	holds, fences, left := h.older(h.lease / 6)
	sent := time.Now()
	renewing, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	renewed, err := h.store.Renew(renewing, fences, h.lease)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fails(ctx, err, "leases could not be renewed") {
		return
	}
	for i, k := range holds {
		if renewed[i] {
			k.sure = sent
		}
	}
}

// fails reports whether a statement failed, which the next beat tries again. It says so
// once an outage, not twice a second. The lock is held.
func (h *heart) fails(ctx context.Context, err error, what string) bool {
	if err == nil || ctx.Err() != nil {
		h.ailing = h.ailing && err != nil
		return err != nil
	}
	if !h.ailing {
		h.ailing = true
		h.log.Warn().Err(err).Msg(what)
	}
	return true
}
