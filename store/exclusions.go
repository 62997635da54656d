package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const exclusionSelect = "SELECT ex.id, ex.name, ex.entries, ex.created_at FROM exclusions ex"

// CreateExclusion stores an exclusion list with its entries, each once. CodeConflict if a list or a benchmark has the
// name, CodeInvalid without entries.
func (s *Store) CreateExclusion(ctx context.Context, e relabel.Exclusion, entries []string) error {
	if len(entries) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the exclusion list has no entry").On("entries")
	}
	e.ID = ensureID(e.ID)
	return s.retryTx(ctx, unlessCreated("exclusions", e.ID), func(tx pgx.Tx, _ bool) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock("+reserving+")"); err != nil {
			return err
		}
		if err := refuseName(ctx, tx, "benchmarks", "benchmark", e.Name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO exclusions (id, name, entries) VALUES ($1, $2, $3)", e.ID, e.Name, len(entries))
		if err != nil {
			return taken(err, "exclusions_name", "exclusion list", e.Name, "choose another name: a list never changes")
		}
		_, err = tx.Exec(ctx, "INSERT INTO exclusion_entries (exclusion_id, entry) SELECT $1, unnest($2::text[])", e.ID, entries)
		return err
	})
}

// refuseName refuses a name that a row of the other table has: allow_benchmarks names benchmarks and exclusion lists.
func refuseName(ctx context.Context, tx pgx.Tx, table, what, name string) error {
	is, err := readValue[bool](ctx, tx, "SELECT EXISTS (SELECT 1 FROM "+table+" WHERE name = $1)", name)
	if err == nil && is {
		err = relabel.Errorf(relabel.CodeConflict, "the %s %q has this name; choose another name", what, name).On("name")
	}
	return err
}

// DeleteExclusion deletes an exclusion list; CodeNotFound if there is none.
func (s *Store) DeleteExclusion(ctx context.Context, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		tag, err := tx.Exec(ctx, "DELETE FROM exclusions WHERE id = $1", id)
		if err == nil && tag.RowsAffected() == 0 && !again {
			err = notFound("exclusion list", id, pgx.ErrNoRows)
		}
		return err
	})
}

// FindExclusion returns an exclusion list; CodeNotFound if there is none.
func (s *Store) FindExclusion(ctx context.Context, id relabel.ID) (relabel.Exclusion, error) {
	return find[relabel.Exclusion](ctx, s, "exclusion list", id, exclusionSelect+" WHERE ex.id = $1", id)
}

// FindExclusionByName returns the exclusion list of this name; CodeNotFound if there is none.
func (s *Store) FindExclusionByName(ctx context.Context, name string) (relabel.Exclusion, error) {
	return find[relabel.Exclusion](ctx, s, "exclusion list", name, exclusionSelect+" WHERE ex.name = $1", validUTF8(name))
}

// ListExclusions lists exclusion lists, newest first. CodeInvalid for an invalid page.
func (s *Store) ListExclusions(ctx context.Context, p relabel.Page) ([]relabel.Exclusion, string, error) {
	l := list[relabel.Exclusion]{query: exclusionSelect, key: "ex",
		keyOf: func(e relabel.Exclusion) cursor { return cursor{e.CreatedAt, e.ID} }}
	return l.page(ctx, s, p)
}

// ListExclusionEntries lists the entries of a list in byte order, none if there is no such list.
func (s *Store) ListExclusionEntries(ctx context.Context, id relabel.ID) ([]string, error) {
	rows, _ := s.pool.Query(ctx, "SELECT entry FROM exclusion_entries WHERE exclusion_id = $1 ORDER BY entry", id)
	entries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return entries, classify(err)
}

// excludedTasks are the tasks that the exclusion list $1 names.
const excludedTasks = `SELECT ta.id, ta.held_out, ta.replaced_in FROM exclusion_entries en JOIN tasks ta ON ta.instance_key = en.instance_key WHERE en.exclusion_id = $1
	UNION SELECT ta.id, ta.held_out, ta.replaced_in FROM exclusion_entries en JOIN tasks ta ON ta.repo_key = en.repo_key AND en.repo_key <> '' WHERE en.exclusion_id = $1`

// CountExcluded counts what an exclusion list reserves; see relabel.Reservation.
func (s *Store) CountExcluded(ctx context.Context, id relabel.ID) (n relabel.Reservation, err error) {
	err = s.pool.QueryRow(ctx, "WITH reserved AS ("+excludedTasks+") "+reservationCounts, id).Scan(&n.Trainable, &n.Trajectories)
	return n, classify(err)
}
