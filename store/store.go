// Package store keeps everything in Postgres: one file per aggregate, plain SQL. Its
// central relation is (state, policy) → action. Every method is safe for concurrent use;
// errors carry relabel codes.
package store

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"relabel"
)

// poolSize is the default of pool_max_conns: eight rollouts and their labels rarely need
// more connections at once.
const poolSize = "16"

// leasePoolSize is the number of extra connections for leases alone: a renewal that waits
// behind a thousand claims loses leases of workers that are alive.
const leasePoolSize = 2

// A client that disappears within a transaction (a stopped process, a lost machine) keeps
// its locks and so delays the takeover of its trajectories. The server ends such a session
// after this time, unless the URL sets another.
const (
	idleTimeout      = "idle_in_transaction_session_timeout"
	idleTransactions = "10s"
)

// Store is the database.
type Store struct {
	pool   *pgxpool.Pool
	leases *pgxpool.Pool // for Look and Renew
	schema string
	jobs   *river.Client[pgx.Tx] // inserts only
	clock  Clock

	figures   endedSums[relabel.Figures]
	exported  sync.Map      // by export that is done: its tasks, see exportedTasks
	searches  chan struct{} // semaphore: one element per running text search
	comparing chan struct{} // semaphore of one, see FindOverlaps
	sums      sync.Map      // by run, a channel with room for one computation of divergence_sums
}

// Open connects to the Postgres at url, in the schema that the url's search_path names
// (public without one). It does not migrate. The error is CodeInvalid for a malformed
// url and CodeUnavailable if no Postgres answers.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(withPoolSize(url))
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "the database URL is malformed").On("DATABASE_URL").Because(err)
	}
	schema, _, _ := strings.Cut(config.ConnConfig.RuntimeParams["search_path"], ",")
	if schema = strings.Trim(strings.TrimSpace(schema), `"`); schema == "" {
		schema = "public"
	}
	config.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	config.ConnConfig.RuntimeParams["application_name"] = "relabel"
	// This covers single statements too: see inTx.
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	if config.ConnConfig.RuntimeParams[idleTimeout] == "" {
		config.ConnConfig.RuntimeParams[idleTimeout] = idleTransactions
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, classify(err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, classify(err)
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema})
	if err != nil {
		pool.Close()
		return nil, classify(err)
	}
	// The pool for leases connects on first use.
	config = config.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = leasePoolSize, 0, 0
	leases, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		pool.Close()
		return nil, classify(err)
	}
	s := &Store{pool: pool, leases: leases, schema: schema, jobs: jobs, searches: make(chan struct{}, searchesAtOnce), comparing: make(chan struct{}, 1)}
	if err := s.ReadClock(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// withPoolSize adds pool_max_conns unless the URL sets it. It keeps other forms of
// connection strings unchanged.
func withPoolSize(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || strings.Contains(u.RawQuery, "pool_max_conns") {
		return raw
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "pool_max_conns=" + poolSize
	return u.String()
}

// Close waits for running statements and closes the connections.
func (s *Store) Close() {
	s.leases.Close()
	s.pool.Close()
}

// Pool is the connection pool, for a River worker client of the same database.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Schema is the Postgres schema of relabel's and River's tables.
func (s *Store) Schema() string { return s.schema }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return classify(s.pool.Ping(ctx)) }

// Instance is the id of this database. It labels sandboxes, so that several relabels on one
// engine never touch each other's.
func (s *Store) Instance(ctx context.Context) (string, error) {
	id, err := readValue[relabel.ID](ctx, s.pool, "SELECT id FROM instance")
	return id.String(), classify(err)
}

// LiveAttempts returns the current attempt of every trajectory that a worker with a live lease
// rolls out or grades again. Sandboxes of other attempts are orphaned.
func (s *Store) LiveAttempts(ctx context.Context) (map[relabel.ID]int, error) {
	live, err := readMap[relabel.ID, int](ctx, s.pool, `SELECT id, attempt FROM trajectories
		WHERE state IN ('running', 'labelling', 'verifying') AND lease_until > clock_timestamp()
		UNION SELECT tr.id, tr.attempt FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id
		WHERE re.state = 'running' AND re.lease_until > clock_timestamp()`)
	return live, classify(err)
}

// Clock computes Postgres's time from this machine's clock and their difference. The queue
// compares the times of scheduled jobs with Postgres's clock.
type Clock struct{ ahead atomic.Int64 }

// Now returns Postgres's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// NowOrNil returns nil, so that Postgres fills in the time.
func (c *Clock) NowOrNil() *time.Time { return nil }

// Clock is the one that ReadClock sets.
func (s *Store) Clock() *Clock { return &s.clock }

// ReadClock reads Postgres's time. Call it periodically: clocks drift.
func (s *Store) ReadClock(ctx context.Context) error {
	there, err := readValue[time.Time](ctx, s.pool, "SELECT clock_timestamp()")
	if err != nil {
		return classify(err)
	}
	s.clock.ahead.Store(int64(time.Until(there)))
	return nil
}
