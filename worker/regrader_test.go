package worker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// fakeStore has one regrading.
type fakeStore struct {
	mu       sync.Mutex
	claimed  bool
	lost     bool // renewals fail
	released int
	finished []relabel.Verdict
}

func (s *fakeStore) ClaimRegrading(context.Context, string, time.Duration) (relabel.RegradeClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed {
		return relabel.RegradeClaim{}, relabel.Errorf(relabel.CodeNotFound, "nothing is due")
	}
	s.claimed = true
	return relabel.RegradeClaim{Patch: []byte("diff")}, nil
}

func (s *fakeStore) RenewRegrading(context.Context, relabel.RegradeFence, time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return relabel.Errorf(relabel.CodeLeaseLost, "it was cancelled")
	}
	return nil
}

func (s *fakeStore) ReleaseRegrading(context.Context, relabel.RegradeFence) error {
	s.released++
	return nil
}

func (s *fakeStore) FinishRegrading(_ context.Context, _ relabel.RegradeFence, v relabel.Verdict, _ time.Duration) error {
	s.finished = append(s.finished, v)
	return nil
}

func grading(s *fakeStore, verify func(ctx context.Context) (relabel.Verdict, error)) *Regrader {
	r, err := NewRegrader(RegraderConfig{Store: s, Owner: "w", Lease: 30 * time.Millisecond, Log: zerolog.Nop(),
		Verify: func(ctx context.Context, _ relabel.RegradeClaim) (relabel.Verdict, error) { return verify(ctx) }})
	if err != nil {
		panic(err)
	}
	return r
}

func untilEnd(ctx context.Context) (relabel.Verdict, error) {
	<-ctx.Done()
	return relabel.Verdict{}, ctx.Err()
}

func TestAVerdictIsStoredAndAPanicIsAnInfrastructureError(t *testing.T) {
	t.Parallel()
	s := &fakeStore{}
	r := grading(s, func(context.Context) (relabel.Verdict, error) { return relabel.Verdict{Passed: true}, nil })
	if err := r.Regrade(t.Context()); err != nil || len(s.finished) != 1 || !s.finished[0].Passed {
		t.Errorf("%v, %+v", err, s.finished)
	}
	if err := r.Regrade(t.Context()); relabel.CodeOf(err) != relabel.CodeNotFound {
		t.Errorf("nothing is due: %v", err)
	}
	s = &fakeStore{}
	r = grading(s, func(context.Context) (relabel.Verdict, error) { panic("boom") })
	if err := r.Regrade(t.Context()); err != nil || len(s.finished) != 1 || s.finished[0].Infra == "" || s.finished[0].Passed {
		t.Errorf("%v, %+v", err, s.finished)
	}
}

func TestAnInterruptedRegradingIsReleased(t *testing.T) {
	t.Parallel()
	s := &fakeStore{}
	ctx, stop := context.WithCancel(t.Context())
	r := grading(s, func(life context.Context) (relabel.Verdict, error) {
		stop()
		return untilEnd(life)
	})
	if err := r.Regrade(ctx); !errors.Is(err, ErrReleased) || s.released != 1 || len(s.finished) != 0 {
		t.Errorf("%v, %d released, %+v", err, s.released, s.finished)
	}
}

func TestALostLeaseEndsTheGradingAndStoresNothing(t *testing.T) {
	t.Parallel()
	s := &fakeStore{lost: true}
	if err := grading(s, untilEnd).Regrade(t.Context()); relabel.CodeOf(err) != relabel.CodeLeaseLost || s.released != 0 || len(s.finished) != 0 {
		t.Errorf("%v, %d released, %+v", err, s.released, s.finished)
	}
}

func TestWithoutCapacityNoRegradingIsClaimed(t *testing.T) {
	t.Parallel()
	s := &fakeStore{}
	r := grading(s, untilEnd)
	r.Capacity = func(context.Context) error { return relabel.Errorf(relabel.CodeUnavailable, "the disk is full") }
	if err := r.Regrade(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable || s.claimed {
		t.Errorf("%v, claimed %v", err, s.claimed)
	}
}
