package mixer

import (
	"context"
	"time"

	"relabel"
)

func (s *fakeStore) Release(ctx context.Context, f relabel.Fence) error {
	return s.fenced(ctx, "Release", f, func() error {
		s.move(relabel.Queued)
		return nil
	})
}

func (s *fakeStore) ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, _ string) error {
	return s.fenced(ctx, "ReleaseWaiting", f, func() error {
		if s.claim.Waited.Step != at.Step {
			s.claim.Waited = relabel.Wait{Step: at.Step}
		}
		s.claim.Waited.For += at.For
		s.move(relabel.Queued)
		return nil
	})
}

func (s *fakeStore) ReleaseFault(ctx context.Context, f relabel.Fence, step string, _ error) (again bool, err error) {
	err = s.fenced(ctx, "Release", f, func() error {
		if s.fault != step {
			s.fault, s.faults = step, 0
		}
		if s.faults++; s.faults < 3 {
			again = true
			s.move(relabel.Queued)
		}
		return nil
	})
	return again, err
}

func (s *fakeStore) ReleaseBroken(ctx context.Context, f relabel.Fence, _ string, pause time.Duration, broken *relabel.BrokenTurn) error {
	return s.fenced(ctx, "ReleaseBroken", f, func() error {
		if pause <= 0 {
			s.broken = append(s.broken, "no pause after a broken sandbox")
		}
		s.move(relabel.Queued)
		s.broke++
		if broken != nil {
			s.pending = broken
			s.brokeAt = append(s.brokeAt, broken.T)
			s.breaks++
		}
		return nil
	})
}
