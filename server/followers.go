package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

const (
	mostFollowers  = 1000 // streams of one process
	queueLength    = 256  // events that wait for one follower
	eventPage      = 500  // events that are read at once
	fallbackPeriod = 2 * time.Second
	listenPause    = time.Second // before a lost listening connection is opened again
	progressPeriod = 2 * time.Second
	progressShare  = 20 // counting takes at most 1/progressShare of the time
)

// followers are the streams of this process. One loop reads the events for all of them; it
// runs while there are any and is woken by the database.
type followers struct {
	store Store
	log   zerolog.Logger
	// progress returns the progress of a scope's resource.
	progress func(ctx context.Context, scope relabel.EventScope) ([]json.RawMessage, error)

	mu   sync.Mutex
	all  map[*follower]struct{}
	stop context.CancelFunc // ends the loop; nil without one
}

// follower is one stream's end of it.
type follower struct {
	scope    relabel.EventScope
	events   chan relabel.Event     // in the order of their numbers
	progress chan []json.RawMessage // the newest one
	cut      chan struct{}          // closed when events came faster than they left
}

// join adds a follower, which receives each event with a number above the last published one.
// CodeUnavailable if there are too many.
func (f *followers) join(ctx context.Context, scope relabel.EventScope) (*follower, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) >= mostFollowers {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%d streams are already open; retry later", mostFollowers)
	}
	if f.stop == nil {
		from, err := f.store.PublishEvents(ctx)
		if err != nil {
			return nil, err
		}
		loop, stop := context.WithCancel(context.WithoutCancel(ctx))
		f.stop = stop
		go f.run(loop, from)
	}
	r := &follower{scope: scope, events: make(chan relabel.Event, queueLength), progress: make(chan []json.RawMessage, 1), cut: make(chan struct{})}
	f.all[r] = struct{}{}
	return r, nil
}

// leave removes a follower; the last one ends the loop.
func (f *followers) leave(r *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, r)
	if len(f.all) == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

// run distributes events after a number until ctx ends. It reads when the database notifies it,
// and every few seconds in case a notification was lost.
func (f *followers) run(ctx context.Context, after int64) {
	heard, away := make(chan struct{}, 1), false
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { f.listen(ctx, heard) })
	parts.Go(func() { f.count(ctx) })
	tick := time.NewTicker(fallbackPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-heard:
		case <-tick.C:
		}
		var err error
		after, err = f.read(ctx, after)
		if err != nil && !away && ctx.Err() == nil { // said once an outage
			f.log.Warn().Err(err).Msg("events cannot be read; streams wait")
		}
		away = err != nil
	}
}

// listen keeps one listening connection.
func (f *followers) listen(ctx context.Context, heard chan<- struct{}) {
	listened := true
	for ctx.Err() == nil {
		err := f.store.ListenEvents(ctx, func() {
			listened = true
			select {
			case heard <- struct{}{}:
			default: // it will look anyway
			}
		})
		if ctx.Err() != nil {
			return
		}
		if listened { // said once an outage
			f.log.Warn().Err(err).Msg("the connection that listens for events was lost")
		}
		listened = false
		select {
		case <-ctx.Done():
		case <-time.After(listenPause):
		}
	}
}

// read distributes the events after a number and returns the last number.
func (f *followers) read(ctx context.Context, after int64) (int64, error) {
	if _, err := f.store.PublishEvents(ctx); err != nil {
		return after, err
	}
	for {
		events, err := f.store.ListEvents(ctx, relabel.EventScope{}, after, eventPage)
		if err != nil {
			return after, err
		}
		for _, e := range events {
			f.hand(ctx, e)
			after = e.Number
		}
		if len(events) < eventPage {
			return after, nil
		}
	}
}

// hand sends an event to its followers. A follower without room for it is disconnected; its
// client reconnects with its last number.
func (f *followers) hand(ctx context.Context, e relabel.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return // another loop may be at work by now, further on
	}
	for r := range f.all {
		if !r.scope.Has(e) {
			continue
		}
		select {
		case r.events <- e:
		default:
			delete(f.all, r)
			close(r.cut)
		}
	}
}

// count sends progress every few seconds, since turns and labels are not events. It counts each
// scope once for all its followers, and for at most 1/progressShare of the time.
func (f *followers) count(ctx context.Context) {
	told := map[relabel.EventScope]string{}
	pause := progressPeriod
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		scopes := f.scopes()
		maps.DeleteFunc(told, func(scope relabel.EventScope, _ string) bool { return !slices.Contains(scopes, scope) })
		for _, scope := range scopes {
			all, err := f.progress(ctx, scope)
			if err != nil {
				continue // the run was deleted, or the database is down: its events show that
			}
			if text := joined(all); text != told[scope] {
				told[scope] = text
				f.tell(scope, all)
			}
		}
		pause = max(progressPeriod, progressShare*time.Since(begin))
	}
}

func joined(parts []json.RawMessage) (text string) {
	for _, p := range parts {
		text += string(p)
	}
	return text
}

// scopes lists the followed scopes.
func (f *followers) scopes() []relabel.EventScope {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []relabel.EventScope
	seen := map[relabel.EventScope]bool{}
	for r := range f.all {
		if !seen[r.scope] {
			seen[r.scope] = true
			list = append(list, r.scope)
		}
	}
	return list
}

// tell sends progress to the followers of a scope and replaces progress that is not sent yet.
func (f *followers) tell(scope relabel.EventScope, progress []json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.all {
		if r.scope != scope {
			continue
		}
		select {
		case <-r.progress:
		default:
		}
		r.progress <- progress // there is room: this is the only sender
	}
}
