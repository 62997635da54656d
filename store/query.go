package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// querier is a transaction or the pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// readOne reads exactly one row by the names of its columns.
func readOne[T any](ctx context.Context, q querier, sql string, args ...any) (T, error) {
	rows, _ := q.Query(ctx, sql, args...)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// readValue reads one row of one column.
func readValue[T any](ctx context.Context, q querier, sql string, args ...any) (value T, err error) {
	err = q.QueryRow(ctx, sql, args...).Scan(&value)
	return value, err
}

// readAll reads all rows by the names of their columns.
func readAll[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// readColumn reads rows of one column.
func readColumn[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// readMap reads rows of a key and a value.
func readMap[K comparable, V any](ctx context.Context, q querier, sql string, args ...any) (map[K]V, error) {
	rows, _ := q.Query(ctx, sql, args...)
	all := map[K]V{}
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
		var key K
		var value V
		err = row.Scan(&key, &value)
		all[key] = value
		return none, err
	})
	return all, err
}

// find is readOne outside a transaction; CodeNotFound names what is missing.
func find[T any](ctx context.Context, s *Store, what string, id any, sql string, args ...any) (T, error) {
	found, err := readOne[T](ctx, s.pool, sql, args...)
	return found, notFound(what, id, err)
}

// listAll is readAll outside a transaction.
func listAll[T any](ctx context.Context, s *Store, sql string, args ...any) ([]T, error) {
	all, err := readAll[T](ctx, s.pool, sql, args...)
	return all, classify(err)
}

// queueRead queues a query for all its rows.
func queueRead[T any](b *pgx.Batch, into *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.AppendRows(*into, rows, scan)
		return err
	})
}

// queueEach queues a query and calls each for every row, scanned into the fields.
func queueEach(b *pgx.Batch, fields []any, each func(), sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, fields, func() error {
			each()
			return nil
		})
		return err
	})
}

// validUTF8 turns any string into one that a text column can hold. It is for names and details;
// the output of models and tools is stored byte for byte instead.
func validUTF8(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
}
