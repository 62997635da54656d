package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// crowd fills a store with ten runs of 1,000 queued and 500 held trajectories each.
func crowd(t testing.TB, s *store.Store, quota *int) {
	t.Helper()
	d := storetest.Seed(t, s, 10)
	exec(t, s, `INSERT INTO runs (id, name, recipe, scaffold, prompts, taskset_id, teacher_id, beta, labels,
			max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed, quota)
		SELECT gen_random_uuid(), name || n, recipe, scaffold, prompts, taskset_id, teacher_id, beta, labels,
			max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed, $1 FROM runs, generate_series(1, 10) n`, quota)
	exec(t, s, `INSERT INTO iterations (id, run_id, number, kind, student_id, generations, trajectories, open)
		SELECT gen_random_uuid(), id, 1, 'collect', $1, 150, 1500, 1500 FROM runs WHERE id <> $2`, d.Student.ID, d.Run.ID)
	_, err := s.CancelRun(context.Background(), d.Run.ID)
	must(t, err)
	exec(t, s, `INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors)
		SELECT gen_random_uuid(), it.run_id, it.id, 'collect', ta.id, g, repeat('sT', 50)
		FROM iterations it, tasks ta, generate_series(1, 150) g WHERE it.state = 'running'`)
	exec(t, s, `UPDATE trajectories SET state = 'running', attempt = 1, trail = 1, owner = 'worker-' || generation % 16, lease_until = now() + interval '1 hour', started_at = now()
		WHERE state = 'queued' AND generation <= 50`)
	exec(t, s, "INSERT INTO attempts (trajectory_id, number, worker) SELECT id, 1, owner FROM trajectories WHERE owner IS NOT NULL")
	exec(t, s, "VACUUM ANALYZE")
}

func BenchmarkClaimNext(b *testing.B) {
	many := 100_000
	for _, c := range []struct {
		name     string
		claimers int
		quota    *int
	}{{"one claimer", 1, nil}, {"four claimers", 4, nil}, {"four claimers, quotas", 4, &many}} {
		b.Run(c.name, func(b *testing.B) {
			s := storetest.New(b)
			crowd(b, s, c.quota)
			var mu sync.Mutex
			var took []time.Duration
			b.ResetTimer()
			var work sync.WaitGroup
			for i := range c.claimers {
				work.Go(func() {
					for range b.N {
						start := time.Now()
						claim, err := s.ClaimNext(context.Background(), fmt.Sprint("w", i), relabel.Repair, time.Minute)
						d := time.Since(start)
						if err == nil {
							err = s.Release(context.Background(), claim.Fence)
						}
						if err != nil {
							b.Error(err)
							return
						}
						mu.Lock()
						took = append(took, d)
						mu.Unlock()
					}
				})
			}
			work.Wait()
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "claims+releases/s")
		})
	}
}

// What a worker that holds 64 trajectories asks twice a second, and thrice a lease.
func BenchmarkLeaseRenewal(b *testing.B) {
	s := storetest.New(b)
	crowd(b, s, nil)
	var fences []relabel.Fence
	for range 64 {
		c, err := s.ClaimNext(context.Background(), "w", relabel.Repair, time.Hour)
		must(b, err)
		fences = append(fences, c.Fence)
	}
	b.Run("look", func(b *testing.B) {
		for range b.N {
			_, err := s.Look(context.Background(), fences)
			must(b, err)
		}
	})
	b.Run("renew", func(b *testing.B) {
		for range b.N {
			_, err := s.Renew(context.Background(), fences, time.Hour)
			must(b, err)
		}
	})
	b.Run("balance", func(b *testing.B) {
		for range b.N {
			must(b, s.BalanceWakeups(context.Background()))
		}
	})
}

func TestAClaimReadsNoQueue(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	crowd(t, s, nil)
	for _, down := range []bool{false, true} {
		plan, err := s.ExplainClaim(context.Background(), down)
		must(t, err)
		for _, index := range []string{"trajectories_queued", "trajectories_held"} {
			if !strings.Contains(plan, index) {
				t.Errorf("%s is not used:\n%s", index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on trajectories") {
			t.Errorf("every trajectory is read:\n%s", plan)
		}
	}
}

// TestAClaimReadsNoTrajectoryThatWaitsForLabels has thousands of trajectories whose rollout is
// over wait for a teacher that is down, before those that are still to be rolled out.
func TestAClaimReadsNoTrajectoryThatWaitsForLabels(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := seedAt(t, s, 10, dead, up, beta(0))
	exec(t, s, "UPDATE iterations SET generations = 5000, trajectories = 50000, open = 50000 WHERE id = $1", d.Iteration.ID)
	exec(t, s, `INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors)
		SELECT gen_random_uuid(), run_id, iteration_id, 'collect', task_id, g, executors FROM trajectories, generate_series(1, 1000) g`)
	exec(t, s, "ALTER TABLE trajectories DISABLE TRIGGER ALL")
	exec(t, s, `UPDATE trajectories SET attempt = 1, trail = 1, started_at = now(), end_reason = 'finish', submitted = false, patch_bytes = 0,
		turns = 1, labels_pending = 1, ribbon = 's' WHERE generation BETWEEN 1 AND 990`)
	exec(t, s, "ALTER TABLE trajectories ENABLE TRIGGER ALL")
	exec(t, s, "VACUUM ANALYZE trajectories")
	deadFor(t, s, "w")
	plan, err := s.ExplainClaim(context.Background(), true)
	must(t, err)
	if n := rowsRead(plan); n > 10 || !strings.Contains(plan, "trajectories_queued_rolling") {
		t.Errorf("a claim reads %d trajectories:\n%s", n, plan)
	}
	if got := claimedBy(t, s, "w", 3); len(got) != 3 {
		t.Errorf("%d claimed", len(got))
	}
}
