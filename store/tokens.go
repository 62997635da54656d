package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// tokenPrefix lets people and secret scanners recognise a token.
const tokenPrefix = "relabel_"

// longestTokenName is in bytes, like the bound on names of runs and tasksets.
const longestTokenName = 200

// CreateToken creates a bearer token and returns its secret, of which only the SHA-256 is
// stored. CodeConflict if a live token has the name, CodeInvalid for a name that is empty,
// longer than 200 bytes or not valid text.
func (s *Store) CreateToken(ctx context.Context, name string, access relabel.Access) (secret string, err error) {
	if name == "" || len(name) > longestTokenName || validUTF8(name) != name {
		return "", relabel.Errorf(relabel.CodeInvalid, "a token's name must have 1 to %d bytes", longestTokenName).On("name")
	}
	if strings.HasPrefix(name, tokenPrefix) {
		return "", relabel.Errorf(relabel.CodeInvalid, "looks like a token; choose a name that describes its user").On("name")
	}
	secret = tokenPrefix + randomText()
	entry := relabel.NewID()
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := auditCommand(ctx, tx, entry, "create-token", name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO tokens (sha256, name, access) VALUES ($1, $2, $3) ON CONFLICT (sha256) DO NOTHING", relabel.HashSecret(secret), name, access)
		return taken(err, "tokens_name", "token", name, "choose another name, or revoke that one first")
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func randomText() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// CheckToken returns the access of the token that has this hex SHA-256, none if it is unknown
// or revoked. Timing reveals nothing useful, since it compares hashes of 256 random bits.
func (s *Store) CheckToken(ctx context.Context, sha256 string) (relabel.Access, error) {
	return s.access(ctx, "SELECT access FROM tokens WHERE sha256 = $1 AND revoked_at IS NULL", sha256)
}

// access reads the access of one row; none without a row.
func (s *Store) access(ctx context.Context, query, sha256 string) (access relabel.Access, err error) {
	err = s.pool.QueryRow(ctx, query, validUTF8(sha256)).Scan(&access)
	if errors.Is(err, pgx.ErrNoRows) {
		return relabel.NoAccess, nil
	}
	return access, classify(err)
}

// RevokeToken ends the live token of this name at once. CodeNotFound if there is none.
func (s *Store) RevokeToken(ctx context.Context, name string) error {
	entry := relabel.NewID()
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if err := auditCommand(ctx, tx, entry, "revoke-token", name); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, "UPDATE tokens SET revoked_at = clock_timestamp() WHERE name = $1 AND revoked_at IS NULL", name)
		if err == nil && tag.RowsAffected() == 0 && !again {
			return notFound("live token", name, pgx.ErrNoRows)
		}
		return err
	})
}

// ListTokens lists all tokens, revoked ones too, newest first.
func (s *Store) ListTokens(ctx context.Context) ([]relabel.Token, error) {
	return listAll[relabel.Token](ctx, s,
		"SELECT name, access, created_at, revoked_at FROM tokens ORDER BY created_at DESC, sha256")
}

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
