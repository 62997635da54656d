package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"relabel/store"
)

func TestWhatMaySucceedAMomentLaterIsTriedAgain(t *testing.T) {
	for code, again := range map[string]bool{
		"40001": true,  // serialization failure
		"40P01": true,  // deadlock
		"53300": true,  // too many connections
		"57P01": true,  // an administrator ends the session
		"57P03": true,  // the server starts
		"57P05": true,  // the session was idle for too long
		"08006": true,  // the line broke
		"53100": false, // the disk is full
		"57014": false, // the statement took too long
		"23505": false, // it exists
		"42703": false, // no such column
	} {
		if got := store.Passing(&pgconn.PgError{Code: code}); got != again {
			t.Errorf("SQLSTATE %s is retried: %v", code, got)
		}
	}
}
