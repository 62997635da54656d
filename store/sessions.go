package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// sessionLife is how long a browser stays signed in.
const sessionLife = "30 days"

// BeginSession signs a browser in with the token of this hex SHA-256 and returns the
// session's secret, of which only the SHA-256 is kept. It lasts 30 days, and no longer
// than the token. CodeUnauthorized for a token that is not known or was revoked.
func (s *Store) BeginSession(ctx context.Context, tokenSHA256 string) (secret string, err error) {
	secret = randomText()
	caller, _ := relabel.CallerOf(ctx)
	entry := relabel.AuditEntry{ID: relabel.NewID(), Actor: relabel.ActorToken, Operation: "sign-in", Method: "POST", Path: "/sign-in", Address: caller.Address}
	err = s.settle(ctx, func(tx pgx.Tx, again bool) error {
		if _, err := tx.Exec(ctx, "DELETE FROM sessions WHERE created_at < clock_timestamp() - $1::interval", sessionLife); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO sessions (sha256, token_sha256)
			SELECT $1, sha256 FROM tokens WHERE sha256 = $2 AND revoked_at IS NULL ON CONFLICT (sha256) DO NOTHING`, relabel.HashSecret(secret), legible(tokenSHA256))
		if err == nil && tag.RowsAffected() == 0 && !again {
			return relabel.Errorf(relabel.CodeUnauthorized, "this token is not known, or was revoked")
		}
		if err != nil {
			return err
		}
		if err := insertAudit(ctx, tx, entry, relabel.Caller{TokenSHA256: tokenSHA256}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE audit SET status = 303 WHERE id = $1", entry.ID)
		return err
	})
	return secret, err
}

// CheckSession says what the session of this hex SHA-256 lets its browser do: what its
// token does, and nothing once one of the two has ended.
func (s *Store) CheckSession(ctx context.Context, sha256 string) (relabel.Access, error) {
	return s.access(ctx, `SELECT t.access FROM sessions se JOIN tokens t ON t.sha256 = se.token_sha256
		WHERE se.sha256 = $1 AND t.revoked_at IS NULL AND se.created_at > clock_timestamp() - interval '`+sessionLife+`'`, sha256)
}

// EndSession signs a browser out; it does nothing where it was not signed in.
func (s *Store) EndSession(ctx context.Context, sha256 string) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM sessions WHERE sha256 = $1", legible(sha256))
		return err
	})
}
