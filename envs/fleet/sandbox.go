package fleet

import (
	"context"
	"math"
	"sync"

	"relabel/envs"
)

// Sandbox is a sandbox that holds a slot of an engine.
type Sandbox struct {
	envs.Sandbox
	fleet  *Fleet
	member *member
	name   string
	once   sync.Once
}

// keep remembers a sandbox until it is closed.
func (f *Fleet) keep(m *member, name string, made envs.Sandbox) *Sandbox {
	s := &Sandbox{Sandbox: made, fleet: f, member: m, name: name}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boxes[name] = s
	return s
}

// Close removes the container and gives its slot back, even where the removal failed: an
// engine that fails gets nothing new in any case.
func (s *Sandbox) Close(ctx context.Context) error {
	err := s.Sandbox.Close(ctx)
	s.once.Do(func() {
		s.fleet.forget(s)
		s.fleet.release(s.member)
	})
	return err
}

func (f *Fleet) forget(s *Sandbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.boxes[s.name] == s {
		delete(f.boxes, s.name)
	}
}

// release gives a slot back.
func (f *Fleet) release(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.used--
	f.wake()
}

// score is a draw from hash that is the higher the more weight there is: of several, each
// has the highest as often as its share of all weight says.
func score(hash uint64, weight int) float64 {
	// FNV's high bits move little with the last letters: mix them (splitmix64's end).
	hash ^= hash >> 30
	hash *= 0xbf58476d1ce4e5b9
	hash ^= hash >> 27
	hash *= 0x94d049bb133111eb
	hash ^= hash >> 31
	u := (float64(hash>>11) + 0.5) / (1 << 53)
	return -float64(max(1, weight)) / math.Log(u)
}
