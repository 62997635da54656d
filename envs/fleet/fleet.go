// Package fleet combines several engines into one envs.Host: it places sandboxes by free slots,
// avoids engines that fail or are full, and uses them again once they are well.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// Slots is the number of concurrent sandboxes; 0 means SlotsPerCPU for each CPU, and a negative
	// number means no limit. Engines are filled in proportion to their slots.
	Slots int
}

// SlotsPerCPU is the default number of sandboxes per CPU: most of them wait for a model most of the
// time.
const SlotsPerCPU = 8

// Config has the settings of a Fleet.
type Config struct {
	Members []Member
	// LookEvery is the interval between checks of an engine; 0 means 5 seconds. It grows up to a
	// minute for an engine that keeps failing.
	LookEvery time.Duration
	// Patience is how long Create waits for an engine while none is available; 0 means a minute.
	Patience time.Duration
	// MayBeDown lets New succeed although no engine answers: sandboxes can be created once one does.
	MayBeDown bool
	Log       zerolog.Logger
}

// Fleet places sandboxes on engines. It implements envs.Host.
type Fleet struct {
	members   []*member
	lookEvery time.Duration
	patience  time.Duration
	log       zerolog.Logger

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a slot or an engine becomes free
	boxes   map[string]*Sandbox

	stop context.CancelFunc
	done sync.WaitGroup
}

var _ envs.Host = (*Fleet)(nil)

// New makes a fleet, checks each member once, and then periodically until Close. Without members no
// sandbox can be created. It fails with CodeUnavailable, with the errors of all engines, if there are
// members and none of them answers, unless they may be down.
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
		f.members = append(f.members, &member{Engine: m.Engine, name: name, slots: m.Slots, configured: m.Slots})
	}
	if err := f.lookAtAll(ctx); err != nil && !c.MayBeDown {
		return nil, errors.Join(err, f.closeEngines())
	}
	looking, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	for _, m := range f.members {
		f.done.Go(func() { f.watch(looking, m) })
	}
	return f, nil
}

// Open makes a fleet of the engines at the addresses, which connect opens; none means "", the local
// engine. A single engine has unlimited slots unless its address limits them. Errors are as of New.
func Open(ctx context.Context, addresses []string, connect func(address string) (engine envs.Engine, slots int, err error), mayBeDown bool, log zerolog.Logger) (*Fleet, error) {
	if len(addresses) == 0 {
		addresses = []string{""}
	}
	var members []Member
	for _, address := range addresses {
		engine, slots, err := connect(address)
		if err != nil {
			for _, m := range members {
				err = errors.Join(err, m.Engine.Close())
			}
			return nil, err
		}
		if slots == 0 && len(addresses) == 1 {
			slots = -1
		}
		members = append(members, Member{Engine: engine, Slots: slots})
	}
	return New(ctx, Config{Members: members, MayBeDown: mayBeDown, Log: log})
}

// Look checks every engine now, so that Health and Room are up to date.
func (f *Fleet) Look(ctx context.Context) { _ = f.lookAtAll(ctx) } // members keep the results

// lookAtAll checks every engine. It fails if none answers.
func (f *Fleet) lookAtAll(ctx context.Context) error {
	errs := make([]error, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() { errs[i] = f.look(ctx, m) })
	}
	all.Wait()
	if slices.Contains(errs, nil) {
		return nil
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

// Name names all engines; Sandbox.HostName names the one of a sandbox.
func (f *Fleet) Name() string { return strings.Join(f.Names(), " ") }

// Names returns the engines' names.
func (f *Fleet) Names() (names []string) {
	for _, m := range f.members {
		names = append(names, m.name)
	}
	return names
}

// Reap reaps every engine that answers: see envs.Host. Sandboxes on other engines are removed once
// these are back.
func (f *Fleet) Reap(ctx context.Context, keep func(envs.Labels) bool) (removed []string, err error) {
	var mu sync.Mutex
	serial := func(l envs.Labels) bool { // callers expect one call at a time
		mu.Lock()
		defer mu.Unlock()
		return keep(l)
	}
	var all sync.WaitGroup
	for _, m := range f.up() {
		all.Go(func() {
			names, failed := m.Engine.Reap(ctx, serial)
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

// up returns the engines that answer, including those without disk space.
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
