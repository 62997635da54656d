package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestEachKindOfTaskHasItsClaimsAndWakeUps(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	repair, search := storetest.Seed(t, s, 2), storetest.SeedLocalise(t, s, 3)
	waiting := func(kind relabel.TaskKind, want int) {
		t.Helper()
		if n := value[int](t, s, `SELECT count(*) FROM river_job WHERE kind = 'rollout' AND queue = $1 AND args->>'task_kind' = $2
			AND state IN ('available', 'pending', 'retryable', 'scheduled')`, kind.Queue(), kind); n != want {
			t.Errorf("%d wake-ups of kind %s wait, not %d", n, kind, want)
		}
	}
	waiting(relabel.Repair, 2)
	waiting(relabel.Localise, 3)
	held := map[relabel.TaskKind][]relabel.Claim{}
	for kind, of := range map[relabel.TaskKind]storetest.Seeded{relabel.Repair: repair, relabel.Localise: search} {
		for range of.Trajectories {
			c, err := s.ClaimNext(ctx, "w", kind, storetest.Lease)
			must(t, err)
			if c.Run.ID != of.Run.ID || c.Run.TaskKind != kind || c.Task.Kind != kind {
				t.Errorf("a claim of kind %s is of kind %s", kind, c.Run.TaskKind)
			}
			held[kind] = append(held[kind], c)
		}
		deadFor(t, s, "w") // from then on claims look for what a down endpoint holds back
		_, err := s.ClaimNext(ctx, "w", kind, storetest.Lease)
		wantCode(t, err, relabel.CodeNotFound)
		must(t, s.Fail(ctx, held[kind][0].Fence, relabel.FailEndpoint, "gone"))
	}

	// Claims took no job of the queue here: what waits is too much.
	must(t, s.BalanceWakeups(ctx))
	waiting(relabel.Repair, 0)
	waiting(relabel.Localise, 0)
	must(t, s.Release(ctx, held[relabel.Localise][1].Fence))
	waiting(relabel.Repair, 0)
	waiting(relabel.Localise, 1)
	_, err := s.RetryFailed(ctx, search.Iteration.ID, nil)
	must(t, err)
	waiting(relabel.Repair, 0)
	waiting(relabel.Localise, 2)
	exec(t, s, "DELETE FROM river_job WHERE queue = 'localise'")
	must(t, s.Release(ctx, held[relabel.Repair][1].Fence))
	must(t, s.BalanceWakeups(ctx))
	waiting(relabel.Repair, 1)
	waiting(relabel.Localise, 2)
}
