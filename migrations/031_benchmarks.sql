-- A benchmark is a fixed list of tasks with limits, which evaluations roll out. A named one
-- reserves its tasks: by default none is drawn for collection or exported. One without a name
-- holds what one or more evaluations drew.
CREATE TABLE benchmarks (
    id                  uuid PRIMARY KEY,
    name                text CONSTRAINT benchmarks_name UNIQUE CHECK (name <> ''),
    taskset_id          uuid NOT NULL REFERENCES tasksets,
    source              json NOT NULL, -- how its tasks were chosen
    tasks               integer NOT NULL CHECK (tasks >= 1),
    tasks_digest        text NOT NULL, -- hex SHA-256 of its tasks' ids, sorted and joined by commas
    max_turns           integer NOT NULL CHECK (max_turns >= 1),
    max_context_tokens  integer NOT NULL CHECK (max_context_tokens >= 1),
    wall_clock_seconds  integer NOT NULL CHECK (wall_clock_seconds >= 1),
    command_seconds     integer NOT NULL CHECK (command_seconds >= 1),
    verify_seconds      integer NOT NULL CHECK (verify_seconds >= 1),
    environment_retries integer NOT NULL CHECK (environment_retries >= 0),
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX benchmarks_page ON benchmarks (created_at DESC, id DESC);
CREATE UNIQUE INDEX benchmarks_drawn ON benchmarks
    (tasks_digest, max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries) WHERE name IS NULL;
CREATE TRIGGER benchmarks_immutable BEFORE UPDATE ON benchmarks FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE benchmark_tasks (
    benchmark_id uuid NOT NULL REFERENCES benchmarks ON DELETE CASCADE,
    task_id      uuid NOT NULL REFERENCES tasks,
    PRIMARY KEY (benchmark_id, task_id)
);
CREATE INDEX benchmark_tasks_task ON benchmark_tasks (task_id);
CREATE TRIGGER benchmark_tasks_immutable BEFORE UPDATE ON benchmark_tasks FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE benchmark_excluded (
    benchmark_id uuid NOT NULL REFERENCES benchmarks ON DELETE CASCADE,
    instance_id  text COLLATE "C" NOT NULL CHECK (instance_id <> ''),
    reason       text NOT NULL CHECK (reason <> ''),
    PRIMARY KEY (benchmark_id, instance_id)
);
CREATE TRIGGER benchmark_excluded_immutable BEFORE UPDATE ON benchmark_excluded FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- What run, iteration or export may use of the tasks that benchmarks reserve: names of benchmarks; null: none.
ALTER TABLE runs ADD COLUMN allow_benchmarks json;
ALTER TABLE exports ADD COLUMN allow_benchmarks json;
ALTER TABLE iterations ADD COLUMN allow_benchmarks json,
    ADD COLUMN reserved_tasks integer NOT NULL DEFAULT 0 CHECK (reserved_tasks >= 0), -- that its draw excluded
    ADD COLUMN benchmark_id uuid REFERENCES benchmarks;
CREATE INDEX iterations_benchmark ON iterations (benchmark_id) WHERE benchmark_id IS NOT NULL;

-- Evaluations of earlier versions: a benchmark of what each drew, with the limits of its run.
CREATE VIEW evaluation_draws AS
    SELECT it.id AS iteration_id, it.created_at, ru.taskset_id, d.tasks, d.tasks_digest,
        ru.max_turns, ru.max_context_tokens, ru.wall_clock_seconds, ru.command_seconds, ru.verify_seconds, ru.environment_retries
    FROM iterations it JOIN runs ru ON ru.id = it.run_id,
        LATERAL (SELECT count(*)::integer AS tasks, encode(sha256(convert_to(string_agg(task_id::text, ',' ORDER BY task_id), 'UTF8')), 'hex') AS tasks_digest
            FROM (SELECT DISTINCT task_id FROM trajectories WHERE iteration_id = it.id) tr) d
    WHERE it.kind = 'evaluate' AND d.tasks > 0;
INSERT INTO benchmarks (id, taskset_id, source, tasks, tasks_digest, max_turns, max_context_tokens, wall_clock_seconds, command_seconds,
        verify_seconds, environment_retries, created_at)
    SELECT gen_random_uuid(), taskset_id, '{"kind":"evaluation"}', tasks, tasks_digest, max_turns, max_context_tokens, wall_clock_seconds,
        command_seconds, verify_seconds, environment_retries, created_at
    FROM evaluation_draws ORDER BY created_at, iteration_id ON CONFLICT DO NOTHING;
UPDATE iterations it SET benchmark_id = b.id FROM evaluation_draws d JOIN benchmarks b
    USING (tasks_digest, max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries)
    WHERE d.iteration_id = it.id;
INSERT INTO benchmark_tasks (benchmark_id, task_id)
    SELECT DISTINCT it.benchmark_id, tr.task_id FROM iterations it JOIN trajectories tr ON tr.iteration_id = it.id WHERE it.benchmark_id IS NOT NULL;
DROP VIEW evaluation_draws;
-- Not valid: an evaluation of a run that is being deleted may have no trajectory left. Nor may it be changed any
-- more, as the deletion of the iteration that it repeats would.
UPDATE iterations SET again_id = NULL WHERE kind = 'evaluate' AND benchmark_id IS NULL AND again_id IS NOT NULL;
ALTER TABLE iterations ADD CONSTRAINT iterations_evaluated CHECK ((kind = 'evaluate') = (benchmark_id IS NOT NULL)) NOT VALID;
