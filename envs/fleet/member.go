package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
)

const (
	// strikesOut is the number of consecutive failures after which an engine is out, even if it
	// answers its checks.
	strikesOut = 3
	// longestLook is the longest interval between checks of an engine that failed.
	longestLook = time.Minute
)

// member is an engine and its state. Fleet.mu guards the second part.
type member struct {
	envs.Engine
	name       string
	configured int // Member.Slots

	slots   int // negative means no limit
	cpus    int
	used    int
	down    error // why the engine is out; nil if it is not
	full    string
	free    int64
	strikes int // consecutive failures
	outs    int // times it was put out since its last new sandbox
}

// has reports whether a slot is free, and the load with one more sandbox.
func (m *member) has() (free bool, load float64) {
	if m.slots < 0 {
		return true, float64(m.used+1) / float64(m.perCPU())
	}
	return m.used < m.slots, float64(m.used+1) / float64(max(1, m.slots))
}

// placeable reports whether new sandboxes may be placed on the engine.
func (m *member) placeable() bool { return m.down == nil && m.full == "" }

// watch checks an engine periodically.
func (f *Fleet) watch(ctx context.Context, m *member) {
	timer := time.NewTimer(f.lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		_ = f.look(ctx, m) // m keeps the result
		timer.Reset(f.pause(m))
	}
}

// pause is the time until the next check: longer for an engine that was put out repeatedly although
// it answers.
func (f *Fleet) pause(m *member) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(f.lookEvery, min(f.lookEvery<<min(m.outs, 10), longestLook))
}

// look checks an engine. An engine that does not answer is put out. One that answers again is used
// again, but its next failure puts it out at once.
func (f *Fleet) look(ctx context.Context, m *member) error {
	is, err := m.Look(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.putOut(m, err)
		return err
	}
	if m.down != nil {
		f.log.Warn().Str("docker", m.name).Msg("the engine is back: creating sandboxes there again")
		m.down, m.strikes = nil, strikesOut-1
		f.wake()
	}
	if is.Full != m.full {
		if m.full = is.Full; m.full != "" {
			f.log.Warn().Str("docker", m.name).Msg("creating no sandboxes there: " + m.full)
		} else {
			f.log.Info().Str("docker", m.name).Msg("enough disk space again: creating sandboxes there")
			f.wake()
		}
	}
	m.cpus, m.free = is.CPUs, is.Free
	if m.configured == 0 {
		m.slots = m.perCPU()
		f.wake()
	}
	return nil
}

// perCPU is the default number of slots.
func (m *member) perCPU() int { return max(1, m.cpus) * SlotsPerCPU }

// putOut stops the creation of sandboxes on an engine. f.mu is held.
func (f *Fleet) putOut(m *member, err error) {
	if m.down == nil {
		f.log.Error().Err(err).Str("docker", m.name).Int("sandboxes", m.used).Msg("the engine fails: creating no sandboxes there until it is back")
	}
	m.down = err
	f.wake() // waiters for a slot there try other engines
}

// judge records the result of an operation on an engine, and reports whether the engine failed.
func (f *Fleet) judge(ctx context.Context, m *member, err error) bool {
	if err == nil {
		f.mu.Lock()
		m.strikes, m.outs = 0, 0
		f.mu.Unlock()
		return false
	}
	if ctx.Err() != nil || !errors.Is(err, envs.ErrEngine) {
		return false
	}
	f.mu.Lock()
	m.strikes++
	out := m.strikes >= strikesOut
	if out {
		m.outs++
		f.putOut(m, err)
	}
	f.mu.Unlock()
	if !out {
		_ = f.look(ctx, m) // puts an engine that does not answer out at once
	}
	return true
}

// wake wakes all waiters. f.mu is held.
func (f *Fleet) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Health returns the state of each engine at its last check.
func (f *Fleet) Health() (all []relabel.Engine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		h := relabel.Engine{Name: m.name, Slots: m.slots, Used: m.used, Free: m.free, Problem: m.full}
		if m.down != nil {
			h.Problem = words(m.down)
		}
		all = append(all, h)
	}
	return all
}

// Well checks the engine of a name, and reports whether it answers and has disk space. It is false for
// an unknown name.
func (f *Fleet) Well(ctx context.Context, name string) bool {
	for _, m := range f.members {
		if m.name != name {
			continue
		}
		if err := f.look(ctx, m); err != nil {
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return m.placeable()
	}
	return false
}

// words is the part of an error that is safe to show.
func words(err error) string {
	if known, ok := errors.AsType[*relabel.Error](err); ok {
		return known.Message
	}
	return "it fails; details are in the log"
}

// Room fails with CodeUnavailable while no new work is to be claimed because no engine is available
// or has disk space, by the results of the last checks.
func (f *Fleet) Room(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.room()
}

func (f *Fleet) room() error {
	var why []string
	for _, m := range f.members {
		switch {
		case m.placeable():
			return nil
		case m.down != nil:
			why = append(why, words(m.down))
		default:
			why = append(why, m.full)
		}
	}
	return relabel.Errorf(relabel.CodeUnavailable, "sandboxes cannot be created: %s", strings.Join(why, "; "))
}
