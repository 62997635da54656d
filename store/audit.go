package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// auditInsert notes an operation with the token of a hash ($8), or of the session of a
// hash ($9).
const auditInsert = `INSERT INTO audit (id, actor, operation, method, path, resource, address, token, token_id)
	SELECT $1, $2, $3, $4, $5, $6, $7, coalesce(t.name, ''), coalesce(left(t.sha256, 12), '')
	FROM (SELECT 1) one LEFT JOIN tokens t ON t.sha256 = coalesce(nullif($8, ''), (SELECT se.token_sha256 FROM sessions se WHERE se.sha256 = $9))
	ON CONFLICT (id) DO NOTHING`

// BeginAudit notes that a caller is about to do something. The entry's token is that of
// the caller; its status is 0 until EndAudit.
func (s *Store) BeginAudit(ctx context.Context, e relabel.AuditEntry, c relabel.Caller) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error { return insertAudit(ctx, tx, e, c) })
}

func insertAudit(ctx context.Context, tx pgx.Tx, e relabel.AuditEntry, c relabel.Caller) error {
	session := ""
	if c.Session != "" {
		session = relabel.HashSecret(c.Session)
	}
	_, err := tx.Exec(ctx, auditInsert, e.ID, e.Actor, e.Operation, e.Method, validUTF8(e.Path), validUTF8(e.Resource), validUTF8(e.Address), c.TokenSHA256, session)
	return err
}

// auditCommand notes what a command does to the database itself, in its transaction.
func auditCommand(ctx context.Context, tx pgx.Tx, id relabel.ID, operation, resource string) error {
	_, err := tx.Exec(ctx, `INSERT INTO audit (id, actor, operation, resource, status) VALUES ($1, 'command', $2, $3, 200) ON CONFLICT (id) DO NOTHING`,
		id, operation, validUTF8(resource))
	return err
}

// EndAudit notes what came of an operation; resource, if it is not "", replaces the one
// that was noted, as of something that was made.
func (s *Store) EndAudit(ctx context.Context, id relabel.ID, status int, resource string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "UPDATE audit SET status = $2, resource = coalesce(nullif($3, ''), resource) WHERE id = $1", id, status, validUTF8(resource))
		return err
	})
}

// CountAudit removes an entry and counts it at another one. Where that one is gone, the
// entry stays, with its status.
func (s *Store) CountAudit(ctx context.Context, id, at relabel.ID, status int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, `WITH counted AS (UPDATE audit SET more = more + 1 WHERE id = $2 AND EXISTS (SELECT FROM audit WHERE id = $1) RETURNING 1),
			gone AS (DELETE FROM audit WHERE id = $1 AND EXISTS (SELECT FROM counted))
			UPDATE audit SET status = $3 WHERE id = $1 AND NOT EXISTS (SELECT FROM counted)`, id, at, status)
		return err
	})
}

// auditResource finds entries by the id of a resource, or by a name: entries keep the ids of
// what has both. Of a policy or a tokenizer all versions are meant.
const auditResource = `au.resource = ANY(ARRAY(SELECT %[1]s::text UNION ALL SELECT id::text FROM runs WHERE name = %[1]s::text
	UNION ALL SELECT id::text FROM tasksets WHERE name = %[1]s::text UNION ALL SELECT id::text FROM policies WHERE name = %[1]s::text
	UNION ALL SELECT id::text FROM tokenizers WHERE name = %[1]s::text))`

// ListAudit lists the audit log, newest first. CodeInvalid for a page that is none.
func (s *Store) ListAudit(ctx context.Context, f relabel.AuditFilter, p relabel.Page) ([]relabel.AuditEntry, string, error) {
	l := list[relabel.AuditEntry]{query: "SELECT id, created_at, actor, token, token_id, operation, method, path, resource, address, status, more FROM audit au", key: "au",
		scan: pgx.RowToStructByName[relabel.AuditEntry], keyOf: func(e relabel.AuditEntry) cursor { return cursor{e.CreatedAt, e.ID} }}
	if f.Token != "" {
		l.where("%[1]s IN (au.token, au.token_id)", validUTF8(f.Token))
	}
	if f.Resource != "" {
		l.where(auditResource, validUTF8(f.Resource))
	}
	if !f.Since.IsZero() {
		l.where("au.created_at >= %s", f.Since)
	}
	return l.page(ctx, s, p)
}

// PurgeAudit forgets entries that are older than keep.
func (s *Store) PurgeAudit(ctx context.Context, keep time.Duration) (purged int64, err error) {
	return s.purgeInBatches(ctx, `DELETE FROM audit WHERE id IN (SELECT id FROM audit
		WHERE created_at < clock_timestamp() - $2::interval ORDER BY created_at LIMIT $1)`, keep)
}
