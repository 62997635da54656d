package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"relabel/store"
	"relabel/store/storetest"
)

// BenchmarkDeleteRun deletes a run of 10,000 trajectories with ten turns each on average,
// their actions and an observation of about 2 kB a turn, and counts it before. The run is
// made once: one deletion is measured.
func BenchmarkDeleteRun(b *testing.B) {
	s := storetest.New(b)
	c := storetest.SeedCrowd(b, s, 10_000, 10)
	ctx := context.Background()
	for _, sql := range []string{
		`INSERT INTO observations (trajectory_id, attempt, t, k, call_id, tool, content, failed, millis) SELECT trajectory_id, attempt, t, 0, 'c', 'bash',
			(SELECT string_agg(decode(md5(trajectory_id::text || t || x), 'hex'), '') FROM generate_series(1, 128) x), false, 1 FROM turns`,
		"UPDATE trajectories SET state = 'cancelled', labels_missing = labels_missing + labels_pending, labels_pending = 0, owner = NULL, lease_until = NULL, ended_at = now() WHERE state IN ('queued', 'running')",
		"UPDATE iterations SET state = 'done', open = 0, ended_at = now() WHERE state = 'running'",
		"ALTER TABLE turns ADD CONSTRAINT turns_attempt FOREIGN KEY (trajectory_id, attempt) REFERENCES attempts ON DELETE CASCADE, ADD CONSTRAINT turns_kind FOREIGN KEY (trajectory_id, kind) REFERENCES trajectories (id, kind) ON DELETE CASCADE",
		"ALTER TABLE actions ADD CONSTRAINT actions_turn FOREIGN KEY (trajectory_id, attempt, t) REFERENCES turns ON DELETE CASCADE, ADD CONSTRAINT actions_prompt_base FOREIGN KEY (trajectory_id, attempt, prompt_base_t, policy_id, prompt_base_sample) REFERENCES actions DEFERRABLE",
		"ALTER TABLE turns ADD CONSTRAINT turns_executed FOREIGN KEY (trajectory_id, attempt, t, executor_policy_id, executor_sample) REFERENCES actions DEFERRABLE INITIALLY DEFERRED, ADD CONSTRAINT turns_label FOREIGN KEY (trajectory_id, attempt, t, label_policy_id, label_sample) REFERENCES actions DEFERRABLE INITIALLY DEFERRED",
		"VACUUM ANALYZE",
	} {
		_, err := s.Pool().Exec(ctx, sql)
		must(b, err)
	}
	b.ResetTimer()
	began := time.Now()
	had, err := s.CountRun(ctx, c.Run.ID)
	must(b, err)
	counted := time.Since(began)
	longest := longestTransaction(b, s)
	must(b, s.BeginDeletion(ctx, c.Run.ID))
	must(b, s.FinishDeletion(ctx, c.Run.ID))
	b.ReportMetric(longest().Seconds(), "s-longest-transaction")
	b.ReportMetric(counted.Seconds(), "s-count")
	b.ReportMetric((time.Since(began) - counted).Seconds(), "s-delete")
	b.Logf("%d trajectories, %d turns, about %d MB", had.Trajectories, had.Turns, had.Bytes>>20)
	var left int
	must(b, s.Pool().QueryRow(ctx, "SELECT count(*) FROM observations o WHERE NOT EXISTS (SELECT FROM trajectories tr WHERE tr.id = o.trajectory_id)").Scan(&left))
	if left > 0 {
		b.Errorf("%d observations are left", left)
	}
}

// longestTransaction samples how long transactions of this database take until it is called.
func longestTransaction(b *testing.B, s *store.Store) (longest func() time.Duration) {
	b.Helper()
	stop, most := make(chan struct{}), time.Duration(0)
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			var age time.Duration
			err := s.Pool().QueryRow(context.Background(), `SELECT coalesce(max(clock_timestamp() - xact_start), '0') FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`).Scan(&age)
			if err != nil {
				b.Error(err)
				return
			}
			most = max(most, age)
		}
	})
	return func() time.Duration {
		close(stop)
		sampling.Wait()
		return most
	}
}
