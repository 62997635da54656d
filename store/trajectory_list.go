package store

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// countedTrajectories bounds the counted matches.
const countedTrajectories = 10_000

// ListTrajectories lists the trajectories that match the filter, sorted; p.After and p.Before
// are Next and Previous of a page of the same list. CodeInvalid for an invalid page.
//
// A page reads its rows, a page's worth of rows per matching iteration, and the rows that a
// filter without an index skips. Rows that change meanwhile may appear twice or not at all.
func (s *Store) ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, sort relabel.TrajectorySort, p relabel.Page) (relabel.TrajectoryPage, error) {
	if sort == "" {
		sort = relabel.Newest
	}
	w, err := newPager(sort, p)
	if err != nil {
		return relabel.TrajectoryPage{}, err
	}
	var page relabel.TrajectoryPage
	err = s.read(ctx, func(tx pgx.Tx) (err error) {
		if w.filter, err = seek(ctx, tx, f); err != nil {
			return err
		}
		w.rows, w.segment = nil, nil
		if err := w.read(ctx, tx); err != nil {
			return err
		}
		page = w.page()
		return countTrajectories(ctx, tx, w.filter, &page)
	})
	return page, err
}

// pager reads a page, segment by segment, from a cursor.
type pager struct {
	filter   resolvedFilter
	sort     relabel.TrajectorySort
	segments []segment
	from     *sortCursor // nil: from the beginning
	back     bool        // towards the beginning
	limit    int
	rows     []relabel.Trajectory // as they are met, one more than the limit where there are more
	segment  []int                // of each row
}

func newPager(sort relabel.TrajectorySort, p relabel.Page) (*pager, error) {
	w := &pager{sort: sort}
	var err error
	if w.limit, err = limitOf(p); err != nil {
		return nil, err
	}
	if w.segments, err = segmentsOf(sort); err != nil {
		return nil, err
	}
	field, text := "after", p.After
	if p.Before != "" {
		field, text, w.back = "before", p.Before, true
	}
	switch {
	case p.After != "" && p.Before != "":
		return nil, relabel.Errorf(relabel.CodeInvalid, "give after or before, not both").On("before")
	case text != "":
		from, err := parseSortCursor(field, text, sort, w.segments)
		w.from = &from
		return w, err
	}
	return w, nil
}

func (w *pager) read(ctx context.Context, tx pgx.Tx) error {
	at, step := 0, 1
	if w.back {
		step = -1
	}
	if w.from != nil {
		at = w.from.segment
	}
	for ; at >= 0 && at < len(w.segments) && len(w.rows) <= w.limit; at += step {
		sql, args := w.query(at, w.limit+1-len(w.rows))
		// Planned each time: the selectivity of a filter depends on its values.
		some, err := readAll[relabel.Trajectory](ctx, tx, sql, append([]any{pgx.QueryExecModeDescribeExec}, args...)...)
		if err != nil {
			return err
		}
		w.rows = append(w.rows, some...)
		w.segment = append(w.segment, slices.Repeat([]int{at}, len(some))...)
	}
	return nil
}

// query reads at most n rows of a segment. For a figure it reads n rows per iteration in the
// order of an index, and takes the first n of all. For the creation time it uses indexes across
// iterations: per iteration, the planner would choose one of these and skip all other rows each
// time.
func (w *pager) query(at, n int) (sql string, args []any) {
	of, q := w.segments[at], &queryBuilder{}
	order, sign := "ASC", ">"
	if of.descending != w.back {
		order, sign = "DESC", "<"
	}
	if of.over {
		q.within(w.filter)
	} else {
		q.among(w.filter)
	}
	q.filter(w.filter, of)
	if w.from != nil && w.from.segment == at {
		q.where("("+of.key+", tr.id) "+sign+" (%s, %s)", of.arg(w.from.key), w.from.id)
	}
	if of.over {
		sql = fmt.Sprintf(`SELECT best.id, best.key FROM iterations it CROSS JOIN LATERAL (
			SELECT tr.id, %[1]s AS key FROM trajectories tr WHERE tr.iteration_id = it.id AND %[2]s ORDER BY %[1]s %[3]s, tr.id %[3]s LIMIT %[4]d) best
			WHERE %[5]s ORDER BY best.key %[3]s, best.id %[3]s LIMIT %[4]d`, of.key, all(q.rows), order, n, all(q.scope))
	} else {
		sql = fmt.Sprintf("SELECT tr.id, %[1]s AS key FROM trajectories tr WHERE %[2]s ORDER BY %[1]s %[3]s, tr.id %[3]s LIMIT %[4]d", of.key, all(q.rows), order, n)
	}
	return "WITH page AS MATERIALIZED (" + sql + ") " + trajectorySelect + " JOIN page ON page.id = tr.id ORDER BY page.key " + order + ", page.id " + order, q.args
}

// page is the result in the list's order.
func (w *pager) page() relabel.TrajectoryPage {
	more := len(w.rows) > w.limit
	if more {
		w.rows, w.segment = w.rows[:w.limit], w.segment[:w.limit]
	}
	if w.back {
		slices.Reverse(w.rows)
		slices.Reverse(w.segment)
	}
	p := relabel.TrajectoryPage{Items: w.rows}
	if len(w.rows) == 0 {
		return p
	}
	if w.back || more {
		p.Next = w.cursorOf(len(w.rows) - 1)
	}
	if w.back && more || !w.back && w.from != nil {
		p.Previous = w.cursorOf(0)
	}
	return p
}

func (w *pager) cursorOf(i int) string { return w.cursorAt(i).text(w.sort) }

func (w *pager) cursorAt(i int) sortCursor {
	return sortCursor{w.segment[i], w.segments[w.segment[i]].keyOf(w.rows[i]), w.rows[i].ID}
}

// next reads the page after the one that was read.
func (w *pager) next(ctx context.Context, s *Store) error {
	w.from = new(w.cursorAt(len(w.rows) - 1))
	w.rows, w.segment = nil, nil
	return s.read(ctx, func(tx pgx.Tx) error { return w.read(ctx, tx) })
}

// countTrajectories counts the matches, and the trajectories of the filter's iterations.
func countTrajectories(ctx context.Context, tx pgx.Tx, f resolvedFilter, page *relabel.TrajectoryPage) error {
	scope := &queryBuilder{}
	scope.within(f)
	err := tx.QueryRow(ctx, "SELECT coalesce(sum(it.trajectories), 0) FROM iterations it WHERE "+all(scope.scope), scope.args...).Scan(&page.Of)
	if err != nil {
		return err
	}
	sql, args := countQuery(f)
	if sql == "" {
		page.Total, page.Exact = page.Of, true
		return nil
	}
	if err := tx.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeDescribeExec}, args...)...).Scan(&page.Total); err != nil {
		return err
	}
	page.Exact = page.Total <= countedTrajectories
	page.Total = min(page.Total, countedTrajectories)
	return nil
}

// countQuery counts the matches up to one above the bound; "" if the filter only restricts
// iterations. For a figure it counts ended and open rows separately: a combined condition would
// read every row.
func countQuery(f resolvedFilter) (sql string, args []any) {
	parts, q := []segment{{}}, &queryBuilder{}
	if f.byFigure() {
		parts = []segment{{over: true}, {open: true, holds: "tr.ended_at IS NULL"}}
	}
	q.within(f)
	from := "trajectories tr"
	if len(q.scope) > 0 || f.byFigure() {
		from = "iterations it JOIN trajectories tr ON tr.iteration_id = it.id"
	}
	var counted []string
	for _, of := range parts {
		q.rows = nil
		if q.filter(f, of); len(q.rows) == 0 {
			return "", nil
		}
		counted = append(counted, fmt.Sprintf("SELECT FROM %s WHERE %s", from, all(append(q.scope, q.rows...))))
	}
	return fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) matches", strings.Join(counted, " UNION ALL "), countedTrajectories+1), q.args
}

// segment is a part of a sorted list; parts follow each other.
type segment struct {
	holds      string // its rows' condition; "" if all are in it
	key        string // what they are sorted by, and then by id
	descending bool
	over, open bool // all of its rows are over, or none is
	// keyOf and arg turn a row's key into eight bytes and back.
	keyOf func(relabel.Trajectory) uint64
	arg   func(uint64) any
}

// segmentsOf are the segments of a sort. A list sorted by a figure begins with the ended rows
// that have it, in the order of an index; the others follow, newest first.
func segmentsOf(sort relabel.TrajectorySort) ([]segment, error) {
	made := segment{key: "tr.created_at", descending: true,
		keyOf: func(t relabel.Trajectory) uint64 { return uint64(t.CreatedAt.UnixMicro()) },
		arg:   func(key uint64) any { return time.UnixMicro(int64(key)).UTC() }}
	var f segment
	count := func(key uint64) any { return int64(key) }
	switch sort {
	case relabel.Newest, relabel.Oldest:
		made.descending = sort == relabel.Newest
		return []segment{made}, nil
	case relabel.MostTurns, relabel.FewestTurns:
		f = segment{key: "tr.final_turns", arg: count, keyOf: func(t relabel.Trajectory) uint64 { return uint64(t.Turns) }}
	case relabel.MostTokens, relabel.FewestTokens:
		f = segment{key: "tr.final_tokens", arg: count, keyOf: func(t relabel.Trajectory) uint64 { return uint64(t.Tokens) }}
	case relabel.HighestAgreement, relabel.LowestAgreement:
		f = segment{key: "tr.final_agreement", arg: func(key uint64) any { return math.Float64frombits(key) },
			keyOf: func(t relabel.Trajectory) uint64 { return math.Float64bits(known(t.Agreement)) }}
	case relabel.HighestScore, relabel.LowestScore:
		f = segment{key: "tr.score", arg: func(key uint64) any { return math.Float64frombits(key) },
			keyOf: func(t relabel.Trajectory) uint64 { return math.Float64bits(known(t.Score)) }}
	case relabel.EarliestDifference, relabel.LatestDifference:
		f = segment{key: "tr.final_differs", arg: count, keyOf: func(t relabel.Trajectory) uint64 { return uint64(known(t.FirstDiffers)) }}
	default:
		return nil, relabel.Errorf(relabel.CodeInvalid, "sort must be one of %v", relabel.TrajectorySorts).On("sort")
	}
	f.descending = slices.Contains([]relabel.TrajectorySort{relabel.MostTurns, relabel.MostTokens, relabel.HighestAgreement, relabel.LatestDifference, relabel.HighestScore}, sort)
	f.over, f.holds, made.holds = true, f.key+" IS NOT NULL", f.key+" IS NULL"
	if f.key == "tr.final_turns" || f.key == "tr.final_tokens" {
		made.holds, made.open = "tr.ended_at IS NULL", true // the same, in the words of an index
	}
	return []segment{f, made}, nil
}

func known[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// sortCursor is a row's place in a sorted list.
type sortCursor struct {
	segment int
	key     uint64
	id      relabel.ID
}

// text is the cursor for clients, with its sort.
func (p sortCursor) text(sort relabel.TrajectorySort) string {
	b := []byte{byte(slices.Index(relabel.TrajectorySorts, sort)), byte(p.segment)}
	b = binary.BigEndian.AppendUint64(b, p.key)
	return base64.RawURLEncoding.EncodeToString(append(b, p.id[:]...))
}

func parseSortCursor(field, text string, sort relabel.TrajectorySort, segments []segment) (p sortCursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 26 || int(b[0]) != slices.Index(relabel.TrajectorySorts, sort) || int(b[1]) >= len(segments) {
		return p, relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list with this sort").On(field)
	}
	p = sortCursor{segment: int(b[1]), key: binary.BigEndian.Uint64(b[2:])}
	copy(p.id[:], b[10:])
	switch key := segments[p.segment].arg(p.key).(type) {
	case time.Time:
		if year := key.Year(); year < 1 || year > 9999 {
			err = relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On(field)
		}
	case float64:
		if !(key >= 0 && key <= 1) {
			err = relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On(field)
		}
	case int64:
		if key < 0 || key > math.MaxInt32 && segments[p.segment].key != "tr.final_tokens" {
			err = relabel.Errorf(relabel.CodeInvalid, "this page value does not belong to this list").On(field)
		}
	}
	return p, err
}
