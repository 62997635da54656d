package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// ExportBenchmarks lists the named benchmarks and the exclusion lists, by name, with the number of the given
// tasks that each reserves.
func (s *Store) ExportBenchmarks(ctx context.Context, tasks []relabel.ID) ([]relabel.ProvenanceBenchmark, error) {
	return listAll[relabel.ProvenanceBenchmark](ctx, s, `WITH reserved AS (
			SELECT name, count(DISTINCT task_id)::int AS exported FROM (`+reservations("ta.id = ANY ($1)", "'{}'::text[]")+`) r GROUP BY name)
		SELECT every.name, every.kind, every.size, coalesce(reserved.exported, 0) AS exported FROM (
			SELECT name, '`+relabel.ProvenanceOfBenchmark+`' AS kind, tasks AS size FROM benchmarks WHERE name IS NOT NULL
			UNION ALL SELECT name, '`+relabel.ProvenanceOfExclusions+`', entries FROM exclusions) every
		LEFT JOIN reserved ON reserved.name = every.name ORDER BY every.name COLLATE "C"`, tasks)
}

// ExportImages returns the digests of images, by name, as workers found them when they checked the images last.
func (s *Store) ExportImages(ctx context.Context, images []string) (map[string]string, error) {
	found := map[string]string{}
	rows, _ := s.pool.Query(ctx, "SELECT image, digest FROM image_checks WHERE image = ANY ($1) AND digest <> ''", images)
	var image, digest string
	_, err := pgx.ForEachRow(rows, []any{&image, &digest}, func() error {
		found[image] = digest
		return nil
	})
	return found, err
}
