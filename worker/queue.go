package worker

import (
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// QueueStore is the database of a queue.
type QueueStore interface {
	Pool() *pgxpool.Pool
	Schema() string
}

// NewQueue returns a client that works jobs under a name, by Postgres's clock. Jobs have no
// time limit of the queue's.
func NewQueue(s QueueStore, clock rivertype.TimeGenerator, name string, workers *river.Workers, queues map[string]river.QueueConfig) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(s.Pool()), &river.Config{
		Schema: s.Schema(), Queues: queues, Workers: workers, JobTimeout: -1, ID: name,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		// The client's clock can be set only in its config for tests.
		Test: river.TestConfig{Time: clock}, RetryPolicy: retryPolicy{clock: clock},
	})
}

// retryPolicy is the queue's default policy by another clock.
type retryPolicy struct {
	river.DefaultClientRetryPolicy
	clock rivertype.TimeGenerator
}

// NextRetry returns when a failed job is retried.
func (r retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	return r.clock.Now().Add(time.Until(r.DefaultClientRetryPolicy.NextRetry(job)))
}
