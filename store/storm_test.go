package store_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// worker does at random what workers and their users do, without asking whether it is
// its turn: whatever it may not do is refused.
type worker struct {
	*store.Store
	name   string
	random *rand.Rand
	held   map[relabel.ID]relabel.Claim
	turns  map[relabel.ID]int
}

func (w *worker) act(ctx context.Context, d storetest.Seeded) error {
	id := d.Trajectories[w.random.IntN(len(d.Trajectories))].ID
	c, holds := w.held[id]
	if !holds {
		c, err := w.Claim(ctx, id, w.name, storetest.Lease)
		if err == nil {
			w.held[id], w.turns[id] = c, len(c.Turns)
		}
		return err
	}
	label := storetest.Received(c.Teacher.ID, "a label")
	switch w.random.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		if w.turns[id] == len(c.Trajectory.Executors) {
			return nil
		}
		turn := storetest.Turn(c, w.turns[id]+1, []*relabel.Action{nil, &label}[w.random.IntN(2)])
		err := w.CommitTurn(ctx, c.Fence, turn)
		if err == nil {
			w.turns[id]++
		}
		return err
	case 8, 9, 10:
		return w.SettleLabel(ctx, c.Fence, 1+w.random.IntN(6), label)
	case 11:
		return w.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns})
	case 12:
		if err := w.BeginVerifying(ctx, c.Fence); err != nil {
			return err
		}
		return w.Finish(ctx, c.Fence, relabel.Verdict{Reason: "tests"})
	case 13:
		_, err := w.Pool().Exec(ctx, "UPDATE trajectories SET lease_until = clock_timestamp() WHERE id = $1 AND owner IS NOT NULL", id)
		return err
	case 14:
		delete(w.held, id)
		return w.Release(ctx, c.Fence)
	case 15:
		delete(w.held, id)
		return w.ReleaseBroken(ctx, c.Fence, "gone", 0, nil)
	case 16, 17, 18:
		return w.AdoptTurns(ctx, c.Fence, c.Trajectory.Trail)
	}
	if len(c.Turns) > 0 && w.random.IntN(8) == 0 {
		err := w.Diverge(ctx, c.Fence, c.Trajectory.Trail, "turn 1: another tree")
		if err == nil {
			w.turns[id] = 0
		}
		return err
	}
	if w.random.IntN(8) == 0 {
		return w.Fail(ctx, c.Fence, relabel.FailEnvironment, "gone")
	}
	_, err := w.RecoverAbandoned(ctx, func(owner string) bool { return owner != w.name && w.random.IntN(16) == 0 })
	return err
}

// refusals are the codes that a worker out of turn hears.
var refusals = map[relabel.Code]bool{"": true, relabel.CodeConflict: true, relabel.CodeLeaseLost: true}

func TestWhateverMeetsTheBooksBalance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	for round := range 6 {
		d := storetest.Seed(t, s, 12)
		var work sync.WaitGroup
		for i := range 5 {
			w := &worker{Store: s, name: string(rune('a' + i)), random: rand.New(rand.NewPCG(uint64(round), uint64(i))),
				held: map[relabel.ID]relabel.Claim{}, turns: map[relabel.ID]int{}}
			work.Go(func() {
				for range 200 {
					if err := w.act(ctx, d); !refusals[relabel.CodeOf(err)] {
						t.Errorf("worker %s: %v", w.name, err)
					}
				}
			})
		}
		if round%2 == 1 {
			work.Go(func() {
				if _, err := s.CancelIteration(ctx, d.Iteration.ID); !refusals[relabel.CodeOf(err)] {
					t.Errorf("cancelling: %v", err)
				}
			})
		}
		work.Wait()
		_, err := s.RecoverAbandoned(ctx, func(string) bool { return true })
		must(t, err)
	}
	for what, sql := range map[string]string{
		"iterations that count their open trajectories wrongly": `SELECT count(*) FROM iterations it WHERE open <>
			(SELECT count(*) FROM trajectories WHERE iteration_id = it.id AND ended_at IS NULL)`,
		"trajectories that count their turns and labels wrongly": `SELECT count(*) FROM trajectories tr WHERE (turns, labels_received, labels_pending, labels_missing) <>
			(SELECT count(*), count(*) FILTER (WHERE a.status = 'received'), count(*) FILTER (WHERE a.status = 'pending'), count(*) FILTER (WHERE a.status = 'missing')
			FROM turns tu JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
			WHERE tu.trajectory_id = tr.id AND tu.attempt = tr.trail)`,
		"trajectories that count their agreement wrongly": `SELECT count(*) FROM trajectories tr WHERE (compared, agreed) <>
			(SELECT count(agrees), count(*) FILTER (WHERE agrees) FROM turns WHERE trajectory_id = tr.id AND attempt = tr.trail)`,
		"trajectories whose figures are not those of their turns": miscounted,
		"queued trajectories of a running iteration more or fewer than there are wake-ups": `SELECT abs(
			(SELECT count(*) FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id WHERE tr.state = 'queued' AND it.state = 'running') -
			(SELECT count(*) FROM river_job WHERE kind = 'rollout' AND state IN ('available', 'pending', 'retryable', 'scheduled')))`,
		"running attempts without an owner": `SELECT count(*) FROM attempts a JOIN trajectories tr ON tr.id = a.trajectory_id
			WHERE a.outcome IS NULL AND (tr.owner IS NULL OR tr.attempt <> a.number)`,
		"turns that are neither the trajectory's nor of an attempt that diverged": `SELECT count(*) FROM turns tu JOIN trajectories tr ON tr.id = tu.trajectory_id
			JOIN attempts a ON (a.trajectory_id, a.number) = (tu.trajectory_id, tu.attempt) WHERE tu.attempt <> tr.trail AND a.outcome <> 'diverged'`,
		"pending labels that no worker will request": `SELECT count(*) FROM actions a JOIN trajectories tr ON tr.id = a.trajectory_id
			WHERE a.status = 'pending' AND (a.attempt <> tr.trail OR tr.ended_at IS NOT NULL)`,
		"trajectories with another number of attempts than they say": `SELECT count(*) FROM trajectories tr WHERE attempt <> (SELECT count(*) FROM attempts WHERE trajectory_id = tr.id)`,
	} {
		if n := value[int](t, s, sql); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if n := value[int](t, s, "SELECT count(*) FROM turns"); n < 50 {
		t.Errorf("%d turns are too few for a storm", n)
	}
}
