package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/codeindex"
)

// today is the day that rows of code_records are used on.
const today = "(clock_timestamp() AT TIME ZONE 'UTC')::date"

// codeKeys are keys of code_records as columns.
type codeKeys struct {
	blobs     [][]byte
	languages []string
	versions  []int
}

func (k *codeKeys) add(key codeindex.Key) error {
	blob, err := hex.DecodeString(key.Blob)
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%.80q is no id of a blob", key.Blob).On("blob")
	}
	k.blobs = append(k.blobs, blob)
	k.languages = append(k.languages, string(key.Language))
	k.versions = append(k.versions, key.Version)
	return nil
}

// FindCodeRecords returns the encoded records of those keys that are stored, and marks them as used
// today.
func (s *Store) FindCodeRecords(ctx context.Context, keys []codeindex.Key) (map[codeindex.Key][]byte, error) {
	var wanted, old codeKeys
	for _, key := range keys {
		if err := wanted.add(key); err != nil {
			return nil, err
		}
	}
	rows, _ := s.pool.Query(ctx, `SELECT encode(blob, 'hex'), language, version, records, used_on < `+today+`
		FROM code_records JOIN unnest($1::bytea[], $2::text[], $3::integer[]) wanted (blob, language, version) USING (blob, language, version)`,
		wanted.blobs, wanted.languages, wanted.versions)
	found := make(map[codeindex.Key][]byte, len(keys))
	var key codeindex.Key
	var records []byte
	var unmarked bool
	_, err := pgx.ForEachRow(rows, []any{&key.Blob, &key.Language, &key.Version, &records, &unmarked}, func() error {
		found[key] = bytes.Clone(records)
		if unmarked {
			return old.add(key)
		}
		return nil
	})
	if err != nil || len(old.blobs) == 0 {
		return found, classify(err)
	}
	return found, s.markCodeRecords(ctx, old)
}

// markCodeRecords says that rows are used today. It leaves out rows that another process marks now.
func (s *Store) markCodeRecords(ctx context.Context, keys codeKeys) error {
	return s.exec(ctx, `UPDATE code_records SET used_on = `+today+` WHERE ctid = ANY (ARRAY(
		SELECT c.ctid FROM code_records c JOIN unnest($1::bytea[], $2::text[], $3::integer[]) old (blob, language, version) USING (blob, language, version)
		WHERE used_on < `+today+` FOR UPDATE OF c SKIP LOCKED))`, keys.blobs, keys.languages, keys.versions)
}

// codeBatch bounds the rows that one transaction stores.
const codeBatch = 5_000

// SaveCodeRecords stores encoded records, in the place of others with the same key.
func (s *Store) SaveCodeRecords(ctx context.Context, records map[codeindex.Key][]byte) error {
	// In one order, so that two callers do not wait for each other.
	keys := slices.SortedFunc(maps.Keys(records), func(a, b codeindex.Key) int {
		return cmp.Or(cmp.Compare(a.Blob, b.Blob), cmp.Compare(a.Language, b.Language), cmp.Compare(a.Version, b.Version))
	})
	for batch := range slices.Chunk(keys, codeBatch) {
		var columns codeKeys
		values := make([][]byte, len(batch))
		for i, key := range batch {
			if err := columns.add(key); err != nil {
				return err
			}
			values[i] = records[key]
		}
		err := s.exec(ctx, `INSERT INTO code_records AS c (blob, language, version, records)
			SELECT * FROM unnest($1::bytea[], $2::text[], $3::integer[], $4::bytea[])
			ON CONFLICT (blob, language, version) DO UPDATE SET records = excluded.records WHERE c.records <> excluded.records`,
			columns.blobs, columns.languages, columns.versions, values)
		if err != nil {
			return err
		}
	}
	return nil
}

// codeRow is about what a row and its entries in indexes need beside the records, in bytes.
const codeRow = 200

// PurgeCodeRecords deletes the least recently used records until the rest needs at most size bytes, and
// returns how many.
func (s *Store) PurgeCodeRecords(ctx context.Context, size int64) (purged int64, err error) {
	table, err := readValue[int64](ctx, s.pool, "SELECT pg_total_relation_size('code_records')")
	if err != nil || table <= size {
		return 0, classify(err) // the table is never smaller than its rows
	}
	var usedOn time.Time // of the most recently used one of those to delete
	var blob []byte
	err = s.pool.QueryRow(ctx, `SELECT used_on, blob FROM (
			SELECT used_on, blob, sum(octet_length(records) + $2) OVER (ORDER BY used_on DESC, blob DESC) AS total FROM code_records) kept
		WHERE total > $1 ORDER BY used_on DESC, blob DESC LIMIT 1`, size, codeRow).Scan(&usedOn, &blob)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, classify(err)
	}
	// A row that another process saves or marks now is in use. Waiting for it could be a deadlock: rows
	// are saved in another order.
	return s.purgeInBatches(ctx, `DELETE FROM code_records WHERE ctid = ANY (ARRAY(SELECT ctid FROM code_records
		WHERE (used_on, blob) <= ($2::date, $3::bytea) ORDER BY used_on, blob LIMIT $1 FOR UPDATE SKIP LOCKED))`, usedOn, blob)
}
