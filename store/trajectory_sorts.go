package store

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"relabel"
)

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
	case relabel.EarliestDifference, relabel.LatestDifference:
		f = segment{key: "tr.final_differs", arg: count, keyOf: func(t relabel.Trajectory) uint64 { return uint64(known(t.FirstDiffers)) }}
	default:
		return nil, relabel.Errorf(relabel.CodeInvalid, "sort must be one of %v", relabel.TrajectorySorts).On("sort")
	}
	f.descending = slices.Contains([]relabel.TrajectorySort{relabel.MostTurns, relabel.MostTokens, relabel.HighestAgreement, relabel.LatestDifference}, sort)
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
		return p, relabel.Errorf(relabel.CodeInvalid, "this page value belongs to a list with another sort").On(field)
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
