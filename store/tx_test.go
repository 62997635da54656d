package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// single opens a migrated schema with a pool of one connection and further settings.
func single(t *testing.T, settings string) *store.Store {
	t.Helper()
	s := storetest.Open(t, strings.Replace(storetest.Schema(t), "pool_max_conns=8", "pool_max_conns=1"+settings, 1))
	must(t, s.Migrate(context.Background()))
	return s
}

func TestAPanicInATransactionUndoesItAndKeepsTheConnection(t *testing.T) {
	t.Parallel()
	s := single(t, "")
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.Write(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO tokens (sha256, name) VALUES (repeat('0', 64), 'half')")
			must(t, err)
			panic("a bug")
		})
	}()
	tokens, err := s.ListTokens(ctx) // the only connection is free
	must(t, err)
	if len(tokens) != 0 {
		t.Errorf("tokens: %+v", tokens)
	}
}

func TestACallThatIsGivenUpLeavesNoConnectionBehind(t *testing.T) {
	t.Parallel()
	s := single(t, "")
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	for range 3 {
		gone, giveUp := context.WithCancel(ctx)
		err := s.Write(gone, func(tx pgx.Tx) error {
			time.AfterFunc(time.Millisecond, giveUp)
			_, err := tx.Exec(gone, "SELECT pg_sleep(60)")
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
	}
	must(t, s.Ping(ctx))
}

func TestWritesAreReadCommittedWhateverTheDatabasesDefault(t *testing.T) {
	t.Parallel()
	s := single(t, "&default_transaction_isolation=serializable")
	if got := value[string](t, s, "SHOW transaction_isolation"); got != "read committed" {
		t.Errorf("a statement by itself is %s", got)
	}
	exec(t, s, "SET default_transaction_isolation = serializable")
	ctx := context.Background()
	must(t, s.Write(ctx, func(tx pgx.Tx) error {
		var got string
		if err := tx.QueryRow(ctx, "SHOW transaction_isolation").Scan(&got); err != nil {
			return err
		}
		if got != "read committed" {
			t.Errorf("a write is %s", got)
		}
		return nil
	}))
}

func TestALimitOfTheDatabasesOwnerIsNoBug(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := single(t, "")
	err := s.Write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 10; SELECT pg_sleep(60)")
		return err
	})
	wantCode(t, err, relabel.CodeUnavailable)
}
