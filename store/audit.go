package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// auditInsert records an operation with the token that has the hash $8, or the token of the
// session that has the hash $9.
const auditInsert = `INSERT INTO audit (id, actor, operation, method, path, resource, address, token, token_id)
	SELECT $1, $2, $3, $4, $5, $6, $7, coalesce(t.name, ''), coalesce(left(t.sha256, 12), '')
	FROM (SELECT 1) one LEFT JOIN tokens t ON t.sha256 = coalesce(nullif($8, ''), (SELECT se.token_sha256 FROM sessions se WHERE se.sha256 = $9))
	ON CONFLICT (id) DO NOTHING`

// BeginAudit records an operation of a caller before it runs. The entry has the caller's token,
// and the status 0 until EndAudit.
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

// auditCommand records, in its transaction, what a command changes in the database.
func auditCommand(ctx context.Context, tx pgx.Tx, id relabel.ID, operation, resource string) error {
	_, err := tx.Exec(ctx, `INSERT INTO audit (id, actor, operation, resource, status) VALUES ($1, 'command', $2, $3, 200) ON CONFLICT (id) DO NOTHING`,
		id, operation, validUTF8(resource))
	return err
}

// EndAudit records the result of an operation. resource, if not "", replaces the recorded one,
// for example by the id of a new resource.
func (s *Store) EndAudit(ctx context.Context, id relabel.ID, status int, resource string) error {
	return s.exec(ctx,
		"UPDATE audit SET status = $2, resource = coalesce(nullif($3, ''), resource) WHERE id = $1", id, status, validUTF8(resource))
}

// CountAudit removes an entry and adds it to the count of another. If that one is gone, the
// entry stays, with its status.
func (s *Store) CountAudit(ctx context.Context, id, at relabel.ID, status int) error {
	return s.exec(ctx,
		`WITH counted AS (UPDATE audit SET more = more + 1 WHERE id = $2 AND EXISTS (SELECT FROM audit WHERE id = $1) RETURNING 1),
			gone AS (DELETE FROM audit WHERE id = $1 AND EXISTS (SELECT FROM counted))
			UPDATE audit SET status = $3 WHERE id = $1 AND NOT EXISTS (SELECT FROM counted)`, id, at, status)
}

// auditResource finds entries by the id or name of a resource; entries store the id of a
// resource that has both. The name of a policy or tokenizer covers all its versions.
const auditResource = `au.resource = ANY(ARRAY(SELECT %[1]s::text UNION ALL SELECT id::text FROM runs WHERE name = %[1]s::text
	UNION ALL SELECT id::text FROM tasksets WHERE name = %[1]s::text UNION ALL SELECT id::text FROM policies WHERE name = %[1]s::text
	UNION ALL SELECT id::text FROM tokenizers WHERE name = %[1]s::text))`

// ListAudit lists the audit log, newest first. CodeInvalid for an invalid page.
func (s *Store) ListAudit(ctx context.Context, f relabel.AuditFilter, p relabel.Page) ([]relabel.AuditEntry, string, error) {
	l := list[relabel.AuditEntry]{query: "SELECT id, created_at, actor, token, token_id, operation, method, path, resource, address, status, more FROM audit au", key: "au",
		keyOf: func(e relabel.AuditEntry) cursor { return cursor{e.CreatedAt, e.ID} }}
	narrow(&l.queryBuilder, "%[1]s IN (au.token, au.token_id)", validUTF8(f.Token))
	narrow(&l.queryBuilder, auditResource, validUTF8(f.Resource))
	if !f.Since.IsZero() {
		l.where("au.created_at >= %s", f.Since)
	}
	return l.page(ctx, s, p)
}

// PurgeAudit deletes entries older than keep.
func (s *Store) PurgeAudit(ctx context.Context, keep time.Duration) (purged int64, err error) {
	return s.purgeInBatches(ctx, `DELETE FROM audit WHERE id IN (SELECT id FROM audit
		WHERE created_at < clock_timestamp() - $2::interval ORDER BY created_at LIMIT $1)`, keep)
}
