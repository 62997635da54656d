package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// limitsOf builds the limits of a run or a benchmark from its columns.
func limitsOf(table string) string {
	return strings.ReplaceAll(`json_build_object('max_turns', T.max_turns, 'max_context_tokens', T.max_context_tokens, 'wall_clock_seconds', T.wall_clock_seconds,
		'command_seconds', T.command_seconds, 'verify_seconds', T.verify_seconds, 'environment_retries', T.environment_retries, 'score_depth', T.score_depth,
		'observation_bytes', T.observation_bytes, 'max_prompt_tokens', T.max_prompt_tokens, 'max_response_tokens', T.max_response_tokens)`, "T.", table+".")
}

var benchmarkSelect = `SELECT be.id, coalesce(be.name, '') AS name, be.taskset_id, be.taskset_revision, be.source, be.tasks,
	(SELECT coalesce(json_agg(json_build_object('instance_id', ex.instance_id, 'reason', ex.reason) ORDER BY ex.instance_id), '[]')
		FROM benchmark_excluded ex WHERE ex.benchmark_id = be.id) AS excluded,
	` + limitsOf("be") + ` AS limits, be.created_at,
	(SELECT count(*) FROM iterations it WHERE it.benchmark_id = be.id AND it.kind = 'evaluate') AS evaluations,
	(SELECT count(*) FROM iterations it WHERE it.benchmark_id = be.id AND it.kind = 'sample') AS samples FROM benchmarks be`

const limitColumns = "max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, score_depth, observation_bytes, max_prompt_tokens, max_response_tokens"

// CreateBenchmark stores a named benchmark of tasks of its task set, without duplicates. It
// counts the tasks. CodeConflict if the name is taken, CodeInvalid without tasks.
func (s *Store) CreateBenchmark(ctx context.Context, b relabel.Benchmark, tasks []relabel.ID) error {
	if len(tasks) == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the benchmark has no task").On("instances")
	}
	b.ID = ensureID(b.ID)
	l := b.Limits
	return s.retryTx(ctx, unlessCreated("benchmarks", b.ID), func(tx pgx.Tx, _ bool) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock("+reserving+")"); err != nil {
			return err
		}
		if err := refuseName(ctx, tx, "exclusions", "exclusion list", b.Name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO benchmarks (id, name, taskset_id, taskset_revision, source, tasks, tasks_digest, "+limitColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`, b.ID, b.Name, b.TasksetID, max(b.TasksetRevision, 1), b.Source, len(tasks), tasksDigest(tasks),
			l.MaxTurns, l.MaxContextTokens, l.WallClockSeconds, l.CommandSeconds, l.VerifySeconds, l.EnvironmentRetries,
			l.ScoreDepth, l.ObservationBytes, l.MaxPromptTokens, l.MaxResponseTokens)
		if err != nil {
			return taken(err, "benchmarks_name", "benchmark", b.Name, "choose another name: a benchmark never changes")
		}
		if err := insertExcluded(ctx, tx, b); err != nil {
			return err
		}
		if err := insertBenchmarkTasks(ctx, tx, b.ID, tasks); err != nil {
			return err
		}
		return markBenchmark(ctx, tx, b.ID)
	})
}

// DeleteBenchmark deletes a benchmark. CodeConflict while an iteration is on it, CodeNotFound if there is
// none.
func (s *Store) DeleteBenchmark(ctx context.Context, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		name, err := readValue[string](ctx, tx, "SELECT coalesce(name, '') FROM benchmarks WHERE id = $1 FOR UPDATE", id)
		if again && errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return notFound("benchmark", id, err)
		}
		var iterations int
		var newest string
		err = tx.QueryRow(ctx, `SELECT count(*), coalesce((array_agg(format('%s %s of the run %s', it.kind, it.number, ru.name) ORDER BY it.created_at DESC))[1], '')
			FROM iterations it JOIN runs ru ON ru.id = it.run_id WHERE it.benchmark_id = $1`, id).Scan(&iterations, &newest)
		if err != nil {
			return err
		}
		if iterations > 0 {
			return relabel.Errorf(relabel.CodeConflict, "the benchmark %s cannot be deleted: it has %d evaluations or samples, the newest is %s", cmp.Or(name, id.String()), iterations, newest)
		}
		_, err = tx.Exec(ctx, "DELETE FROM benchmarks WHERE id = $1", id)
		return err
	})
}

// CountReserved counts what a benchmark reserves; see relabel.Reservation.
func (s *Store) CountReserved(ctx context.Context, id relabel.ID) (n relabel.Reservation, err error) {
	row := "SELECT ta.id, ta.held_out, ta.replaced_in FROM "
	err = s.pool.QueryRow(ctx, `WITH has AS (SELECT ta.* FROM benchmark_tasks bt JOIN tasks ta ON ta.id = bt.task_id WHERE bt.benchmark_id = $1),
		same AS (`+row+"has JOIN tasks ta ON "+sameInstance+" UNION "+row+"has JOIN tasks ta ON "+sameCommit+`),
		similar_patch AS (`+row+`task_overlaps ov JOIN tasks ta ON ta.id = ov.task_id WHERE ov.benchmark_id = $1),
		reserved AS (SELECT * FROM same UNION SELECT * FROM similar_patch) `+reservationCounts+`,
			(SELECT count(*) FROM similar_patch WHERE NOT held_out AND replaced_in IS NULL AND id NOT IN (SELECT id FROM same))`, id).Scan(&n.Trainable, &n.Trajectories, &n.Similar)
	return n, classify(err)
}

// reservationCounts selects what the tasks called reserved are: the number of trainable ones, and of finished trajectories.
const reservationCounts = `SELECT (SELECT count(*) FROM reserved WHERE NOT held_out AND replaced_in IS NULL), (SELECT count(*) FROM reserved
	JOIN trajectories tr ON tr.task_id = reserved.id JOIN iterations it ON it.id = tr.iteration_id WHERE tr.state = 'done' AND it.benchmark_id IS NULL)`

func insertExcluded(ctx context.Context, tx pgx.Tx, b relabel.Benchmark) error {
	instances, reasons := make([]string, len(b.Excluded)), make([]string, len(b.Excluded))
	for i, e := range b.Excluded {
		instances[i], reasons[i] = e.InstanceID, validUTF8(e.Reason)
	}
	_, err := tx.Exec(ctx, "INSERT INTO benchmark_excluded (benchmark_id, instance_id, reason) SELECT $1, * FROM unnest($2::text[], $3::text[])", b.ID, instances, reasons)
	return err
}

func insertBenchmarkTasks(ctx context.Context, tx pgx.Tx, benchmark relabel.ID, tasks []relabel.ID) error {
	_, err := tx.Exec(ctx, "INSERT INTO benchmark_tasks (benchmark_id, task_id) SELECT $1, unnest($2::uuid[])", benchmark, tasks)
	return err
}

// tasksDigest identifies a set of tasks: the hex SHA-256 of their ids, sorted and joined by
// commas. Migration 031 computes the same.
func tasksDigest(tasks []relabel.ID) string {
	texts := make([]string, len(tasks))
	for i, id := range tasks {
		texts[i] = id.String()
	}
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, ",")))
	return hex.EncodeToString(sum[:])
}

// drawnBenchmark returns the benchmark without a name that has the tasks of an iteration and
// the limits of its run, which it stores if there is none.
func drawnBenchmark(ctx context.Context, tx pgx.Tx, run relabel.ID, trajectories []relabel.Trajectory) (relabel.ID, error) {
	tasks := make([]relabel.ID, len(trajectories))
	for i, t := range trajectories {
		tasks[i] = t.TaskID
	}
	slices.SortFunc(tasks, func(a, b relabel.ID) int { return cmp.Compare(a.String(), b.String()) })
	tasks = slices.Compact(tasks)
	digest, id := tasksDigest(tasks), relabel.NewID()
	for {
		tag, err := tx.Exec(ctx, "INSERT INTO benchmarks (id, taskset_id, taskset_revision, source, tasks, tasks_digest, "+limitColumns+`)
			SELECT $1, taskset_id, taskset_revision, $3, $4, $5, `+limitColumns+` FROM runs WHERE id = $2 ON CONFLICT (tasks_digest, `+limitColumns+`) WHERE name IS NULL DO NOTHING`,
			id, run, relabel.BenchmarkSource{Kind: relabel.FromEvaluation}, len(tasks), digest)
		if err != nil {
			return id, err
		}
		if tag.RowsAffected() > 0 {
			return id, insertBenchmarkTasks(ctx, tx, id, tasks)
		}
		found, err := readValue[relabel.ID](ctx, tx, `SELECT be.id FROM benchmarks be JOIN runs ru USING (`+limitColumns+`)
			WHERE ru.id = $1 AND be.name IS NULL AND be.tasks_digest = $2 FOR KEY SHARE OF be`, run, digest)
		if !errors.Is(err, pgx.ErrNoRows) { // else it was deleted between the statements, with its last run
			return found, err
		}
		if exists, err := exists(ctx, tx, "runs", run); err != nil || !exists {
			return id, notFound("run", run, cmp.Or(err, pgx.ErrNoRows))
		}
	}
}

// FindBenchmark returns a benchmark; CodeNotFound if there is none.
func (s *Store) FindBenchmark(ctx context.Context, id relabel.ID) (relabel.Benchmark, error) {
	return find[relabel.Benchmark](ctx, s, "benchmark", id, benchmarkSelect+" WHERE be.id = $1", id)
}

// FindBenchmarkByName returns the benchmark of this name; CodeNotFound if there is none.
func (s *Store) FindBenchmarkByName(ctx context.Context, name string) (relabel.Benchmark, error) {
	return find[relabel.Benchmark](ctx, s, "benchmark", name, benchmarkSelect+" WHERE be.name = $1", validUTF8(name))
}

// ListBenchmarks lists benchmarks, newest first: those with a name, or all. CodeInvalid for an
// invalid page.
func (s *Store) ListBenchmarks(ctx context.Context, f relabel.BenchmarkFilter, p relabel.Page) ([]relabel.Benchmark, string, error) {
	l := list[relabel.Benchmark]{query: benchmarkSelect, key: "be",
		keyOf: func(b relabel.Benchmark) cursor { return cursor{b.CreatedAt, b.ID} }}
	if !f.Unnamed {
		l.where("be.name IS NOT NULL")
	}
	return l.page(ctx, s, p)
}

// ListBenchmarkTasks lists the tasks of a benchmark with only their ids, task sets, instance ids
// and held-out marks, in the byte order of instance ids; none if there is no such benchmark.
func (s *Store) ListBenchmarkTasks(ctx context.Context, id relabel.ID) ([]relabel.Task, error) {
	rows, _ := s.pool.Query(ctx, `SELECT ta.id, ta.taskset_id, ta.instance_id, ta.held_out FROM benchmark_tasks bt JOIN tasks ta ON ta.id = bt.task_id
		WHERE bt.benchmark_id = $1 ORDER BY ta.instance_id, ta.id`, id)
	var all []relabel.Task
	var task relabel.Task
	_, err := pgx.ForEachRow(rows, []any{&task.ID, &task.TasksetID, &task.InstanceID, &task.HeldOut}, func() error {
		all = append(all, task)
		return nil
	})
	return all, classify(err)
}

// noneAsNull returns names for a column that is null without any.
func noneAsNull(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return names
}

// sameInstance and sameCommit compare the tasks ta and has, in any spelling: by their instance ids, and by
// repository and base commit. A commit may be shortened to 7 digits.
const (
	sameInstance = "ta.instance_key = has.instance_key"
	sameCommit   = `has.repo_key <> '' AND has.commit_key <> '' AND ta.repo_key <> '' AND ta.commit_key <> ''
		AND left(ta.repo_key, 200) = left(has.repo_key, 200) AND ta.repo_key = has.repo_key
		AND left(ta.commit_key, 7) = left(has.commit_key, 7)
		AND (starts_with(ta.commit_key, has.commit_key) OR starts_with(has.commit_key, ta.commit_key))`
)

// reservedTasks are the tasks in scope, a condition on ta, that named benchmarks or exclusion lists reserve, but those in
// a list of allowed ones: each with the first of their names. The list is a placeholder.
func reservedTasks(scope, allowed string) string {
	return `SELECT task_id, min(name COLLATE "C") AS name FROM (` + reservations(scope, allowed) + `) r GROUP BY task_id`
}

// reservations are the same tasks, each with every name, some of them more than once.
func reservations(scope, allowed string) string {
	reserve := func(from string) string {
		return `SELECT ta.id AS task_id, be.name FROM benchmarks be ` + from + ` WHERE ` + scope + ` AND be.name IS NOT NULL AND be.name <> ALL (` + allowed + `)`
	}
	has := "JOIN benchmark_tasks bt ON bt.benchmark_id = be.id JOIN tasks has ON has.id = bt.task_id JOIN tasks ta ON "
	exclude := func(same string) string {
		return `SELECT ta.id, ex.name FROM exclusions ex JOIN exclusion_entries en ON en.exclusion_id = ex.id JOIN tasks ta ON ` + same +
			` WHERE ` + scope + ` AND ex.name <> ALL (` + allowed + `)`
	}
	return reserve(has+sameInstance) + ` UNION ALL ` + reserve(has+sameCommit) +
		` UNION ALL ` + reserve("JOIN task_overlaps ov ON ov.benchmark_id = be.id JOIN tasks ta ON ta.id = ov.task_id") +
		` UNION ALL ` + exclude("ta.instance_key = en.instance_key") + ` UNION ALL ` + exclude("ta.repo_key = en.repo_key AND en.repo_key <> ''")
}

// reserving is the key of the lock that a named benchmark holds while it is created, and that an iteration
// for training shares: one of them sees the other.
const reserving = "hashtextextended('reserving of ' || current_schema(), 0)"

// refuseReserved refuses an iteration for training one of whose tasks a benchmark has come to reserve
// since they were drawn.
func refuseReserved(ctx context.Context, tx pgx.Tx, p relabel.PlannedIteration) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared("+reserving+")"); err != nil {
		return err
	}
	tasks := make([]relabel.ID, len(p.Trajectories))
	for i, t := range p.Trajectories {
		tasks[i] = t.TaskID
	}
	var n int
	var name string
	err := tx.QueryRow(ctx, "SELECT count(*), coalesce(min(name), '') FROM ("+reservedTasks("ta.id = ANY ($1)", "$2::text[]")+") re", tasks, texts(p.Iteration.AllowBenchmarks)).Scan(&n, &name)
	if err == nil && n > 0 {
		err = relabel.Errorf(relabel.CodeConflict, "%s, a new benchmark or exclusion list, reserves %d of its tasks: draw again, or choose others", name, n)
	}
	return err
}

// CountReservedSince counts the tasks of an iteration that named benchmarks reserve now, but those that it
// allows; see relabel.BenchmarkStore.
func (s *Store) CountReservedSince(ctx context.Context, it relabel.Iteration) (int, error) {
	if it.BenchmarkID != nil {
		return 0, nil
	}
	n, err := readValue[int](ctx, s.pool, "SELECT count(*) FROM ("+
		reservedTasks("ta.id IN (SELECT tr.task_id FROM trajectories tr WHERE tr.iteration_id = $1)", "$2::text[]")+") re", it.ID, texts(it.AllowBenchmarks))
	return n, classify(err)
}

// ListReserved returns the tasks of a task set that named benchmarks reserve, each with the
// first name; see relabel.BenchmarkStore.
func (s *Store) ListReserved(ctx context.Context, taskset relabel.ID, allowed []string) (map[relabel.ID]string, error) {
	reserved, err := readMap[relabel.ID, string](ctx, s.pool, reservedTasks("ta.taskset_id = $1", "$2::text[]"), taskset, texts(allowed))
	return reserved, classify(err)
}

// ListReservedBy returns which named benchmarks and exclusion lists reserve tasks; see relabel.BenchmarkStore.
func (s *Store) ListReservedBy(ctx context.Context, tasks []relabel.ID) (map[relabel.ID][]string, error) {
	names, err := readMap[relabel.ID, []string](ctx, s.pool, `SELECT task_id, array_agg(DISTINCT name COLLATE "C" ORDER BY name COLLATE "C")
		FROM (`+reservations("ta.id = ANY ($1)", "'{}'::text[]")+`) r GROUP BY task_id`, tasks)
	return names, classify(err)
}

// ListEvaluations lists the evaluations of a benchmark, newest first; none if there is no such
// benchmark. CodeInvalid for an invalid page.
func (s *Store) ListEvaluations(ctx context.Context, benchmark relabel.ID, p relabel.Page) ([]relabel.Iteration, string, error) {
	l := list[relabel.Iteration]{query: iterationSelect, key: "it", keyOf: func(it relabel.Iteration) cursor { return cursor{it.CreatedAt, it.ID} }}
	l.where("it.kind = 'evaluate' AND it.benchmark_id = %s", benchmark)
	return l.page(ctx, s, p)
}
