// Package fleet makes one envs.Host of several engines: it places sandboxes by free slots,
// keeps away from engines that fail or are full, and comes back to them.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"relabel"
	"relabel/envs"
)

// Member is an engine of a fleet.
type Member struct {
	Engine envs.Engine
	// Slots is how many sandboxes it holds at once; 0 means SlotsPerCPU for each of its
	// CPUs, and negative any number. Engines are filled in proportion to them.
	Slots int
}

// SlotsPerCPU is how many sandboxes share a CPU where nothing is said: most of them wait
// for a model most of the time.
const SlotsPerCPU = 8

// Config says what a fleet is made of.
type Config struct {
	Members []Member
	// LookEvery is between two looks at an engine; 0 means 5 seconds. An engine that fails
	// again and again is looked at less often, down to a minute.
	LookEvery time.Duration
	// Patience is how long Create waits for an engine while none works; 0 means a minute.
	Patience time.Duration
	Log      zerolog.Logger
}

// Fleet places sandboxes on engines. It implements envs.Host.
type Fleet struct {
	members   []*member
	lookEvery time.Duration
	patience  time.Duration
	log       zerolog.Logger

	mu      sync.Mutex
	changed chan struct{} // closed, and made again, when a slot or an engine became free
	boxes   map[string]*Sandbox

	stop context.CancelFunc
	done sync.WaitGroup
}

var _ envs.Host = (*Fleet)(nil)

// New makes a fleet of at least one member and looks at each once; Close ends what then
// continues. It fails with CodeUnavailable where none of the engines answers, saying of each
// why; one that does is enough.
func New(ctx context.Context, c Config) (*Fleet, error) {
	if c.LookEvery <= 0 {
		c.LookEvery = 5 * time.Second
	}
	if c.Patience <= 0 {
		c.Patience = time.Minute
	}
	f := &Fleet{lookEvery: c.LookEvery, patience: c.Patience, log: c.Log, changed: make(chan struct{}), boxes: map[string]*Sandbox{}}
	names := map[string]bool{}
	for _, m := range c.Members {
		name := m.Engine.Name()
		if names[name] {
			return nil, relabel.Errorf(relabel.CodeInvalid, "the engine %s is named twice", name)
		}
		names[name] = true
		f.members = append(f.members, &member{Engine: m.Engine, name: name, slots: m.Slots, said: m.Slots})
	}
	if err := f.lookAtAll(ctx); err != nil {
		return nil, errors.Join(err, f.closeEngines())
	}
	looking, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	for _, m := range f.members {
		f.done.Go(func() { f.watch(looking, m) })
	}
	return f, nil
}

// Look looks at every engine now, so that Health and Room are no older than this.
func (f *Fleet) Look(ctx context.Context) { _ = f.lookAtAll(ctx) } // what it found is kept, and said once

// lookAtAll looks at every engine. It fails where none answers.
func (f *Fleet) lookAtAll(ctx context.Context) error {
	errs := make([]error, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() { errs[i] = f.look(ctx, m) })
	}
	all.Wait()
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errors.Join(errs...)
}

// Close stops the checks and releases the engines. Sandboxes keep running.
func (f *Fleet) Close() error {
	f.stop()
	f.done.Wait()
	return f.closeEngines()
}

func (f *Fleet) closeEngines() error {
	var errs []error
	for _, m := range f.members {
		errs = append(errs, m.Engine.Close())
	}
	return errors.Join(errs...)
}

// Name names all engines; a Sandbox says on which it is.
func (f *Fleet) Name() string { return strings.Join(f.Names(), " ") }

// Names names the engines.
func (f *Fleet) Names() (names []string) {
	for _, m := range f.members {
		names = append(names, m.name)
	}
	return names
}

// Reap reaps every engine that answers: see envs.Host. What is on one that does not is
// reaped when it is back.
func (f *Fleet) Reap(ctx context.Context, keep func(envs.Labels) bool) (removed []string, err error) {
	var mu sync.Mutex
	asking := func(l envs.Labels) bool { // callers expect one question at a time
		mu.Lock()
		defer mu.Unlock()
		return keep(l)
	}
	var all sync.WaitGroup
	for _, m := range f.up() {
		all.Go(func() {
			names, failed := m.Engine.Reap(ctx, asking)
			mu.Lock()
			defer mu.Unlock()
			removed = append(removed, names...)
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", m.name, failed))
			}
		})
	}
	all.Wait()
	return removed, err
}

// Tidy tidies every engine that answers: see envs.Engine.
func (f *Fleet) Tidy(ctx context.Context) error {
	var all errgroup.Group
	for _, m := range f.up() {
		all.Go(func() error { return m.Engine.Tidy(ctx) })
	}
	return all.Wait()
}

// up returns the engines that answer, also those without room.
func (f *Fleet) up() (up []*member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.down == nil {
			up = append(up, m)
		}
	}
	return up
}
