package mixer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"relabel"
)

// fakeStore holds one trajectory and enforces the contract of Store. before is called
// with the name of each operation, after with that of each that took place, outside the
// lock.
type fakeStore struct {
	before, after func(ctx context.Context, op string) error

	mu       sync.Mutex
	claim    relabel.Claim // as it will be given out, but for its fence
	state    relabel.TrajectoryState
	attempt  int
	trail    int // the attempt that holds the turns
	pending  *relabel.BrokenTurn
	brokeAt  []int
	breaks   int
	broke    int    // environment failures
	fault    string // step of the last fault
	faults   int    // in a row
	diverged string // what was said of the last divergence
	owner    string
	paused   bool
	waits    bool // for its iteration's labelling, without an owner
	until    time.Time
	turns    map[int][]relabel.Turn // by attempt
	labels   map[string]relabel.Action
	ending   *relabel.Ending
	verdict  *relabel.Verdict
	failure  relabel.FailureReason
	detail   string
	sandbox  string
	history  []relabel.TrajectoryState
	spent    []relabel.TimeSpent
	broken   []string // contract violations by the mixer
	writes   int      // that took place
	renewals int
}

func newFakeStore(c relabel.Claim) *fakeStore {
	return &fakeStore{claim: c, state: relabel.Queued, turns: map[int][]relabel.Turn{},
		labels: map[string]relabel.Action{}, history: []relabel.TrajectoryState{relabel.Queued}}
}

func (s *fakeStore) enter(ctx context.Context, op string) error {
	if s.before != nil {
		if err := s.before(ctx, op); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// move takes a step of the state machine; s.mu is held.
func (s *fakeStore) move(next relabel.TrajectoryState) {
	if !s.state.CanBecome(next) {
		s.broken = append(s.broken, fmt.Sprintf("%s cannot become %s", s.state, next))
	}
	s.state = next
	s.history = append(s.history, next)
}

func (s *fakeStore) lost() error {
	return relabel.Errorf(relabel.CodeLeaseLost, "not yours")
}

// fenced runs do under the lock when the fence holds.
func (s *fakeStore) fenced(ctx context.Context, op string, f relabel.Fence, do func() error) error {
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	if err := s.locked(op, f, do); err != nil {
		return err
	}
	return s.leave(ctx, op)
}

func (s *fakeStore) leave(ctx context.Context, op string) error {
	if s.after == nil {
		return nil
	}
	return s.after(ctx, op)
}

func (s *fakeStore) locked(op string, f relabel.Fence, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.holds(f) {
		return s.lost()
	}
	err := do()
	if err == nil {
		s.writes++
	}
	return err
}

func (s *fakeStore) ClaimNext(ctx context.Context, owner string, kind relabel.TaskKind, lease time.Duration) (relabel.Claim, error) {
	if err := s.enter(ctx, "ClaimNext"); err != nil {
		return relabel.Claim{}, err
	}
	if kind != cmp.Or(s.claim.Task.Kind, relabel.Repair) {
		return relabel.Claim{}, relabel.Errorf(relabel.CodeNotFound, "no task to %s", kind)
	}
	c, err := s.give(owner, lease)
	if err == nil {
		err = s.leave(ctx, "ClaimNext")
	}
	return c, err
}

func (s *fakeStore) give(owner string, lease time.Duration) (relabel.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != relabel.Queued {
		return relabel.Claim{}, relabel.Errorf(relabel.CodeNotFound, "nothing to be claimed: %s", s.state)
	}
	s.attempt++
	s.owner, s.until = owner, time.Now().Add(lease)
	if len(s.turns[s.trail]) == 0 {
		s.trail = s.attempt
	}
	if s.ending != nil {
		s.move(relabel.Labelling)
		s.adopt()
	} else {
		s.move(relabel.Running)
	}
	c := s.claim
	c.Fence = relabel.Fence{TrajectoryID: c.Trajectory.ID, Attempt: s.attempt, Owner: owner}
	c.Ending, c.Turns = s.ending, s.committed()
	c.Trajectory.Trail, c.Trajectory.EnvironmentFailures = s.trail, s.broke
	if s.pending != nil && s.pending.T == len(c.Turns)+1 {
		c.Broken = s.pending
	}
	c.BrokeAt, c.Breaks = slices.Clone(s.brokeAt), s.breaks
	return c, nil
}

// committed returns the trajectory's turns, each with its label as it is now; s.mu is held.
func (s *fakeStore) committed() []relabel.Turn {
	var turns []relabel.Turn
	for _, turn := range s.turns[s.trail] {
		if l, ok := s.labels[labelKey(s.trail, turn.T)]; ok {
			turn.Label = &l
		}
		turns = append(turns, turn)
	}
	return turns
}

// adopt gives the turns to the current attempt; s.mu is held.
func (s *fakeStore) adopt() {
	if s.trail == s.attempt {
		return
	}
	for _, turn := range s.turns[s.trail] {
		if l, ok := s.labels[labelKey(s.trail, turn.T)]; ok {
			s.labels[labelKey(s.attempt, turn.T)] = l
			delete(s.labels, labelKey(s.trail, turn.T))
		}
	}
	s.turns[s.attempt] = s.turns[s.trail]
	delete(s.turns, s.trail)
	s.trail = s.attempt
}

func (s *fakeStore) AdoptTurns(ctx context.Context, f relabel.Fence, from int) error {
	return s.fenced(ctx, "AdoptTurns", f, func() error {
		if s.state != relabel.Running || from != s.trail || from == s.attempt {
			s.broken = append(s.broken, fmt.Sprintf("attempt %d adopts those of %d while %s, trail %d", s.attempt, from, s.state, s.trail))
		}
		s.adopt()
		return nil
	})
}

func (s *fakeStore) Diverge(ctx context.Context, f relabel.Fence, from int, detail string) error {
	return s.fenced(ctx, "Diverge", f, func() error {
		if s.state != relabel.Running || from != s.trail || from == s.attempt {
			s.broken = append(s.broken, fmt.Sprintf("attempt %d diverges from %d while %s, trail %d", s.attempt, from, s.state, s.trail))
		}
		for _, turn := range s.turns[from] {
			if l := s.labels[labelKey(from, turn.T)]; l.Status == relabel.Pending {
				l.Status = relabel.Missing
				s.labels[labelKey(from, turn.T)] = l
			}
		}
		s.trail, s.diverged, s.brokeAt = s.attempt, detail, nil
		return nil
	})
}

// holds reports whether the fence does; s.mu is held.
func (s *fakeStore) holds(f relabel.Fence) bool {
	return f.Attempt == s.attempt && f.Owner == s.owner && f.TrajectoryID == s.claim.Trajectory.ID &&
		!s.state.Terminal() && s.state != relabel.Queued && !time.Now().After(s.until)
}

func (s *fakeStore) Look(ctx context.Context, fences []relabel.Fence) ([]relabel.Standing, error) {
	if err := s.enter(ctx, "Look"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	standings := make([]relabel.Standing, len(fences))
	for i, f := range fences {
		standings[i] = relabel.Standing{Held: s.holds(f), Paused: s.paused}
	}
	return standings, nil
}

func (s *fakeStore) Renew(ctx context.Context, fences []relabel.Fence, lease time.Duration) ([]bool, error) {
	if err := s.enter(ctx, "Renew"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	renewed := make([]bool, len(fences))
	for i, f := range fences {
		if renewed[i] = s.holds(f); renewed[i] {
			s.renewals++
			s.until = time.Now().Add(lease)
		}
	}
	return renewed, nil
}

func (s *fakeStore) SetSandbox(ctx context.Context, f relabel.Fence, host, container string) error {
	return s.fenced(ctx, "SetSandbox", f, func() error {
		s.sandbox = host + "/" + container
		return nil
	})
}

func labelKey(attempt, t int) string { return fmt.Sprint(attempt, "/", t) }

func (s *fakeStore) CommitTurn(ctx context.Context, f relabel.Fence, turn relabel.Turn) error {
	return s.fenced(ctx, "CommitTurn", f, func() error {
		if s.state != relabel.Running || s.trail != s.attempt || turn.T != len(s.turns[f.Attempt])+1 {
			s.broken = append(s.broken, fmt.Sprintf("turn %d committed while %s with %d turns", turn.T, s.state, len(s.turns[f.Attempt])))
		}
		s.turns[f.Attempt] = append(s.turns[f.Attempt], turn)
		if turn.Label != nil {
			s.labels[labelKey(f.Attempt, turn.T)] = *turn.Label
		}
		return nil
	})
}

// RecordTime has no part in the outcome.
func (s *fakeStore) RecordTime(_ context.Context, _ relabel.Fence, spent relabel.TimeSpent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = append(s.spent, spent)
	return nil
}

func (s *fakeStore) SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error {
	return s.fenced(ctx, "SettleLabel", f, func() error {
		old, ok := s.labels[labelKey(f.Attempt, t)]
		if !ok || old.Status != relabel.Pending || label.Status == relabel.Pending {
			s.broken = append(s.broken, fmt.Sprintf("label of turn %d settled from %q (there: %v) to %q", t, old.Status, ok, label.Status))
			return relabel.Errorf(relabel.CodeConflict, "not pending")
		}
		s.labels[labelKey(f.Attempt, t)] = label
		return nil
	})
}

func (s *fakeStore) pendingLabels() int {
	n := 0
	for _, l := range s.labels {
		if l.Status == relabel.Pending {
			n++
		}
	}
	return n
}

func (s *fakeStore) EndRollout(ctx context.Context, f relabel.Fence, end relabel.Ending) error {
	return s.fenced(ctx, "EndRollout", f, func() error {
		if s.trail != s.attempt {
			s.broken = append(s.broken, "ended before the turns were adopted")
		}
		if end.Reason.Cut() && (end.Submitted || len(end.Patch) > 0) {
			s.broken = append(s.broken, "a rollout that the label rule ended has a patch")
		}
		s.move(relabel.Labelling)
		s.ending = &end
		return nil
	})
}

func (s *fakeStore) AwaitLabels(ctx context.Context, f relabel.Fence) error {
	return s.fenced(ctx, "AwaitLabels", f, func() error {
		if s.state != relabel.Labelling || s.pendingLabels() == 0 || s.claim.Run.Labels == relabel.LabelsInline {
			s.broken = append(s.broken, fmt.Sprintf("labels are awaited while %s, %d pending", s.state, s.pendingLabels()))
		}
		s.owner, s.waits = "", true
		return nil
	})
}

// label begins the iteration's labelling.
func (s *fakeStore) label() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.claim.Iteration.LabellingSince = &now
	if s.waits {
		s.waits = false
		s.move(relabel.Queued)
	}
}

func (s *fakeStore) BeginVerifying(ctx context.Context, f relabel.Fence) error {
	return s.fenced(ctx, "BeginVerifying", f, func() error {
		if s.pendingLabels() > 0 {
			s.broken = append(s.broken, "verifying begun while labels are pending")
			return relabel.Errorf(relabel.CodeConflict, "labels are pending")
		}
		s.move(relabel.Verifying)
		return nil
	})
}

func (s *fakeStore) Finish(ctx context.Context, f relabel.Fence, v relabel.Verdict) error {
	return s.fenced(ctx, "Finish", f, func() error {
		s.move(relabel.Done)
		s.verdict = &v
		return nil
	})
}

func (s *fakeStore) FinishUnverified(ctx context.Context, f relabel.Fence) error {
	return s.fenced(ctx, "FinishUnverified", f, func() error {
		if !s.claim.Trajectory.SkipVerify && !s.ending.Reason.Cut() {
			s.broken = append(s.broken, "finished without a verdict that it must have")
		}
		s.move(relabel.Done)
		return nil
	})
}

func (s *fakeStore) Fail(ctx context.Context, f relabel.Fence, reason relabel.FailureReason, detail string) error {
	return s.fenced(ctx, "Fail", f, func() error {
		s.move(relabel.Failed)
		s.failure, s.detail = reason, detail
		return nil
	})
}

// requeued is the state of a trajectory after its worker disappeared and its lease expired.
func (s *fakeStore) requeued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Terminal() && s.state != relabel.Queued && !s.waits {
		s.move(relabel.Queued)
	}
}

// cancelled is what a user's cancel does.
func (s *fakeStore) cancelled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Terminal() {
		s.move(relabel.Cancelled)
	}
	s.writes = 0
}

// takenOver is what another worker's claim does after the lease ran out.
func (s *fakeStore) takenOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.state.Terminal() {
		s.attempt++
		s.owner, s.until = "another", time.Now().Add(time.Hour)
		s.state = relabel.Running
	}
	s.writes = 0
}
