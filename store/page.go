package store

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const (
	defaultPage = 50
	largestPage = 500
)

// cursor is the key of the last item of a page, newest first.
type cursor struct {
	at time.Time
	id relabel.ID
}

// String is the cursor for clients: microseconds and id, base64url.
func (c cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.at.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.id[:]...))
}

func parseCursor(s string) (cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 24 {
		return cursor{}, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On("after")
	}
	c := cursor{at: time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC()}
	copy(c.id[:], b[8:])
	if year := c.at.Year(); year < 1 || year > 9999 {
		return cursor{}, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On("after")
	}
	return c, nil
}

func limitOf(p relabel.Page) (int, error) {
	switch {
	case p.Limit == 0:
		return defaultPage, nil
	case p.Limit < 0 || p.Limit > largestPage:
		return 0, relabel.Errorf(relabel.CodeInvalid, "limit must be from 1 to %d", largestPage).On("limit")
	}
	return p.Limit, nil
}

// namePage returns the name that a page of a list in the order of names follows, "" for the
// first page, and how many items the page holds.
func namePage(p relabel.Page) (after string, limit int, err error) {
	limit, err = limitOf(p)
	if err != nil {
		return "", 0, err
	}
	name, err := base64.RawURLEncoding.DecodeString(p.After)
	if err != nil {
		return "", 0, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On("after")
	}
	return validUTF8(string(name)), limit, nil
}

// nameCursor is the last name of a page as clients send it back.
func nameCursor(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// list is a query for a page of Ts, whose columns have the names of T's fields.
type list[T any] struct {
	queryBuilder
	query string // SELECT … FROM …
	key   string // the alias of the table whose created_at and id order the list
	keyOf func(T) cursor
}

// sql returns the query for the page after c (nil: the first) with at most limit items.
func (l *list[T]) sql(c *cursor, limit int) (string, []any) {
	q := queryBuilder{rows: l.rows, args: l.args}
	if c != nil {
		q.where("("+l.key+".created_at, "+l.key+".id) < (%s, %s)", c.at, c.id)
	}
	return fmt.Sprintf("%s WHERE %s ORDER BY %[3]s.created_at DESC, %[3]s.id DESC LIMIT %[4]d", l.query, all(q.rows), l.key, limit), q.args
}

// page reads a page and the key of the next, "" at the end.
func (l *list[T]) page(ctx context.Context, s *Store, p relabel.Page) (items []T, next string, err error) {
	limit, err := limitOf(p)
	if err != nil {
		return nil, "", err
	}
	if p.Before != "" {
		return nil, "", relabel.Errorf(relabel.CodeInvalid, "this list supports only forward pages").On("before")
	}
	var after *cursor
	if p.After != "" {
		c, err := parseCursor(p.After)
		if err != nil {
			return nil, "", err
		}
		after = &c
	}
	query, args := l.sql(after, limit+1)
	items, more, err := collectPage(ctx, s, pgx.RowToStructByName[T], limit, query, args)
	if err != nil {
		return nil, "", classify(err)
	}
	if more {
		next = l.keyOf(items[len(items)-1]).String()
	}
	return items, next, nil
}

// collectPage reads at most limit rows of a query, and stops after the row that exceeds
// relabel.MostPageBytes. more reports whether there are further rows.
func collectPage[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], limit int, query string, args []any) (items []T, more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a query whose rows are not all wanted, with its connection
	rows, _ := s.pool.Query(ctx, query, args...)
	bytes := 0
	for rows.Next() {
		for _, column := range rows.RawValues() {
			bytes += len(column)
		}
		if len(items) == limit || (len(items) > 0 && bytes > relabel.MostPageBytes) {
			more = true
			break
		}
		item, err := scan(rows)
		if err != nil {
			rows.Close()
			return nil, false, err
		}
		items = append(items, item)
	}
	if more && len(items) < limit {
		cancel()
	}
	rows.Close()
	if more {
		return items, true, nil
	}
	return items, false, rows.Err()
}
