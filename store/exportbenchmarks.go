package store

import (
	"context"

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
