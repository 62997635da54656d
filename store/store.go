// Package store keeps everything in Postgres: a file per aggregate, plain SQL. The
// heart is one relation, (state, policy) → action. Every method is safe for concurrent
// use; errors carry relabel codes.
package store

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"relabel"
)

// poolSize is how many connections a store opens at most where the URL does not say
// (pool_max_conns): eight rollouts, their labels and heartbeats rarely meet at more.
const poolSize = "16"

// heartPoolSize is how many connections there are beside those for the heart alone. It
// must not queue behind a thousand claims, or leases run out while everybody works.
const heartPoolSize = 2

// A client that begins a transaction and is then not heard of (its process is stopped, its
// machine gone) holds its locks, and whoever would take its trajectories over waits. The
// server ends such a session after this while: with a lease and a look, within a minute.
// The URL may say another one.
const (
	idleTimeout      = "idle_in_transaction_session_timeout"
	idleTransactions = "10s"
)

// Store is the database.
type Store struct {
	pool   *pgxpool.Pool
	heart  *pgxpool.Pool // for Look and Renew
	schema string
	jobs   *river.Client[pgx.Tx] // inserts only
	clock  Clock

	figures  endedSums[relabel.Figures]
	searches chan struct{} // one of each search in texts that is under way
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
	// Of statements that are transactions by themselves, too: see inTx.
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
	heart, err := heartPool(ctx, config)
	if err != nil {
		pool.Close()
		return nil, classify(err)
	}
	s := &Store{pool: pool, heart: heart, schema: schema, jobs: jobs, searches: make(chan struct{}, searchesAtOnce)}
	if err := s.ReadClock(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// heartPool opens nothing until it is used.
func heartPool(ctx context.Context, of *pgxpool.Config) (*pgxpool.Pool, error) {
	config := of.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = heartPoolSize, 0, 0
	return pgxpool.NewWithConfig(ctx, config)
}

// withPoolSize adds pool_max_conns where the URL leaves it open. Other forms of
// connection string are left as they are.
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

// Close waits for what is under way and closes the connections.
func (s *Store) Close() {
	s.heart.Close()
	s.pool.Close()
}

// Pool is the connection pool, for a River worker client of the same database.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Schema is the Postgres schema of relabel's and River's tables.
func (s *Store) Schema() string { return s.schema }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return classify(s.pool.Ping(ctx)) }
