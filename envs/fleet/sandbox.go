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

// keep records a sandbox until it is closed.
func (f *Fleet) keep(m *member, name string, made envs.Sandbox) *Sandbox {
	s := &Sandbox{Sandbox: made, fleet: f, member: m, name: name}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boxes[name] = s
	return s
}

// Close removes the container and releases its slot, even if the removal failed: an engine that fails
// gets no new sandboxes.
func (s *Sandbox) Close(ctx context.Context) error {
	err := s.Sandbox.Close(ctx)
	s.once.Do(func() {
		s.fleet.mu.Lock()
		if s.fleet.boxes[s.name] == s {
			delete(s.fleet.boxes, s.name)
		}
		s.fleet.mu.Unlock()
		s.fleet.release(s.member)
	})
	return err
}

// release releases a slot.
func (f *Fleet) release(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.used--
	f.wake()
}

// score is a draw by hash: the chance that it is the highest of several is its share of all weight.
func score(hash uint64, weight int) float64 {
	// The last letters change FNV's high bits little: mix them (the end of splitmix64).
	hash ^= hash >> 30
	hash *= 0xbf58476d1ce4e5b9
	hash ^= hash >> 27
	hash *= 0x94d049bb133111eb
	hash ^= hash >> 31
	u := (float64(hash>>11) + 0.5) / (1 << 53)
	return -float64(max(1, weight)) / math.Log(u)
}
