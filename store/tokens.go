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

// randomText is 256 random bits as text.
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
