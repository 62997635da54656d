package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const (
	sessionLife   = "30 days" // how long a browser stays signed in
	mostSessions  = 1000      // of one token
	signInsListed = 60        // of one token in an hour that have an entry each in the audit log
)

// BeginSession signs a browser in with the token that has this hex SHA-256. It returns the
// session's secret, of which only the SHA-256 is stored. A session ends after 30 days or with
// its token. CodeUnauthorized for an unknown or revoked token.
func (s *Store) BeginSession(ctx context.Context, tokenSHA256 string) (secret string, err error) {
	secret = randomText()
	caller, _ := relabel.CallerOf(ctx)
	entry := relabel.AuditEntry{ID: relabel.NewID(), Actor: relabel.ActorToken, Operation: "sign-in", Method: "POST", Path: "/sign-in", Address: caller.Address}
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if _, err := tx.Exec(ctx, "DELETE FROM sessions WHERE created_at < clock_timestamp() - $1::interval", sessionLife); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO sessions (sha256, token_sha256)
			SELECT $1, sha256 FROM tokens WHERE sha256 = $2 AND revoked_at IS NULL ON CONFLICT (sha256) DO NOTHING`, relabel.HashSecret(secret), validUTF8(tokenSHA256))
		if err == nil && tag.RowsAffected() == 0 && !again {
			return relabel.Errorf(relabel.CodeUnauthorized, "this token is not known, or was revoked")
		}
		if err != nil {
			return err
		}
		if err := endOldSessions(ctx, tx, tokenSHA256); err != nil {
			return err
		}
		return auditSignIn(ctx, tx, entry, tokenSHA256)
	})
	return secret, err
}

// endOldSessions ends the oldest sessions of a token that has more than mostSessions.
func endOldSessions(ctx context.Context, tx pgx.Tx, tokenSHA256 string) error {
	_, err := tx.Exec(ctx, `DELETE FROM sessions WHERE sha256 IN (SELECT sha256 FROM sessions WHERE token_sha256 = $1
		ORDER BY created_at DESC, sha256 OFFSET $2)`, tokenSHA256, mostSessions)
	return err
}

// auditSignIn records a sign-in. Of a token's sign-ins within an hour, the first signInsListed
// have their own entries; the last of these counts the rest.
func auditSignIn(ctx context.Context, tx pgx.Tx, entry relabel.AuditEntry, tokenSHA256 string) error {
	if err := insertAudit(ctx, tx, entry, relabel.Caller{TokenSHA256: tokenSHA256}); err != nil {
		return err
	}
	var listed int
	var last *relabel.ID
	err := tx.QueryRow(ctx, `WITH recent AS (SELECT id, created_at FROM audit WHERE token = (SELECT name FROM tokens WHERE sha256 = $1) AND operation = 'sign-in'
			AND created_at > clock_timestamp() - interval '1 hour' AND id <> $2)
		SELECT (SELECT count(*) FROM recent), (SELECT id FROM recent ORDER BY created_at DESC LIMIT 1)`, tokenSHA256, entry.ID).Scan(&listed, &last)
	if err != nil {
		return err
	}
	if listed >= signInsListed {
		_, err = tx.Exec(ctx, "WITH gone AS (DELETE FROM audit WHERE id = $1) UPDATE audit SET more = more + 1 WHERE id = $2", entry.ID, last)
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE audit SET status = 303 WHERE id = $1", entry.ID)
	return err
}

// CheckSession returns the access of the session that has this hex SHA-256: that of its token,
// or none after the end of either.
func (s *Store) CheckSession(ctx context.Context, sha256 string) (relabel.Access, error) {
	return s.access(ctx, `SELECT t.access FROM sessions se JOIN tokens t ON t.sha256 = se.token_sha256
		WHERE se.sha256 = $1 AND t.revoked_at IS NULL AND se.created_at > clock_timestamp() - interval '`+sessionLife+`'`, sha256)
}

// EndSession signs a browser out; it does nothing if it was not signed in.
func (s *Store) EndSession(ctx context.Context, sha256 string) error {
	return s.exec(ctx, "DELETE FROM sessions WHERE sha256 = $1", validUTF8(sha256))
}
