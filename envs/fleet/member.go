package fleet

import (
	"context"
	"errors"
	"time"

	"relabel"
	"relabel/envs"
)

const (
	// strikesOut is how many failures of an engine in a row put it out, even though it
	// answers when it is looked at.
	strikesOut = 3
	// longestLook is the longest time between two looks at an engine that failed.
	longestLook = time.Minute
)

// member is an engine with what is known of it. Fields below are of Fleet.mu.
type member struct {
	envs.Engine
	name string
	said int // slots as they were given

	slots   int // negative: any number
	cpus    int
	used    int
	down    error // why nothing is placed there: it failed
	full    string
	free    int64
	strikes int // failures in a row
	outs    int // times it was put out since the last sandbox that it made
}

// has reports whether a slot is free, and how heavy the load would be with one more.
func (m *member) has() (free bool, load float64) {
	if m.slots < 0 {
		return true, float64(m.used+1) / float64(max(1, m.cpus)*SlotsPerCPU)
	}
	return m.used < m.slots, float64(m.used+1) / float64(max(1, m.slots))
}

// placeable reports whether new sandboxes may be placed there at all.
func (m *member) placeable() bool { return m.down == nil && m.full == "" }

// watch looks at an engine again and again.
func (f *Fleet) watch(ctx context.Context, m *member) {
	timer := time.NewTimer(f.lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		_ = f.look(ctx, m) // what it found is kept in m, and said once
		timer.Reset(f.pause(m))
	}
}

// pause is how long to wait until the next look: longer for an engine that is put out
// again and again although it answers.
func (f *Fleet) pause(m *member) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	pause := f.lookEvery
	for range min(m.outs, 10) {
		pause *= 2
	}
	return max(f.lookEvery, min(pause, longestLook))
}

// look asks an engine how it is. One that does not answer is put out, one that does again is
// taken back; when it had been put out by what it did, its next failure puts it out again.
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
		f.log.Warn().Str("docker", m.name).Msg("the engine is back: sandboxes are made there again")
		m.down, m.strikes = nil, max(0, strikesOut-1)
		f.wake()
	}
	if is.Full != m.full {
		if m.full = is.Full; m.full != "" {
			f.log.Warn().Str("docker", m.name).Msg("nothing new is begun there: " + m.full)
		} else {
			f.log.Info().Str("docker", m.name).Msg("there is room again")
			f.wake()
		}
	}
	m.cpus, m.free = is.CPUs, is.Free
	if slots := m.said; slots == 0 {
		slots = max(1, is.CPUs) * SlotsPerCPU
		if slots > m.slots {
			f.wake()
		}
		m.slots = slots
	}
	return nil
}

// putOut keeps new sandboxes away from an engine. f.mu is held.
func (f *Fleet) putOut(m *member, err error) {
	if m.down == nil {
		f.log.Error().Err(err).Str("docker", m.name).Int("sandboxes", m.used).Msg("the engine fails: nothing new is begun there until it is back")
	}
	m.down = err
	f.wake() // who waits for a slot there looks elsewhere
}

// judge takes note of what became of a sandbox that was to be made on an engine, and
// reports whether it was the engine that failed.
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
		_ = f.look(ctx, m) // an engine that is gone is put out at once
	}
	return true
}

// wake has everyone who waits look again. f.mu is held.
func (f *Fleet) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Health is how an engine of a fleet is.
type Health struct {
	Name  string
	Slots int // negative: any number
	Used  int
	Free  int64 // bytes for images and layers; negative where that is not known
	// Problem says why nothing new is begun there, in words; "" where it is.
	Problem string
}

// Health says how each engine is, as of the last look.
func (f *Fleet) Health() (all []Health) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		h := Health{Name: m.name, Slots: m.slots, Used: m.used, Free: m.free, Problem: m.full}
		if m.down != nil {
			h.Problem = words(m.down)
		}
		all = append(all, h)
	}
	return all
}

// Well asks the engine of a name how it is, and reports whether it answers and has room. A name of
// no engine of this fleet is not well.
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
		return m.down == nil && m.full == ""
	}
	return false
}

// words are what of an error is safe to show.
func words(err error) string {
	var known *relabel.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return "it fails; details are in the log"
}

// Room fails with CodeUnavailable while nothing new should be begun because no engine
// works or has room. It asks nobody: what the last look found counts.
func (f *Fleet) Room(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.room()
}

func (f *Fleet) room() error {
	var why string
	for _, m := range f.members {
		if m.placeable() {
			return nil
		}
		if why != "" {
			why += "; "
		}
		if why += m.full; m.down != nil {
			why += words(m.down)
		}
	}
	return relabel.Errorf(relabel.CodeUnavailable, "no sandbox can be made: %s", why)
}
