-- Exclusion lists: instance ids and repositories whose tasks are reserved as those of named benchmarks are.
CREATE TABLE exclusions (
    id         uuid PRIMARY KEY,
    name       text NOT NULL CONSTRAINT exclusions_name UNIQUE CHECK (name <> ''),
    entries    integer NOT NULL CHECK (entries >= 1),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX exclusions_page ON exclusions (created_at DESC, id DESC);
CREATE TRIGGER exclusions_immutable BEFORE UPDATE ON exclusions FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- An entry is an instance id or a repository; the keys are those of tasks.
CREATE TABLE exclusion_entries (
    exclusion_id uuid NOT NULL REFERENCES exclusions ON DELETE CASCADE,
    entry        text COLLATE "C" NOT NULL CHECK (entry <> ''),
    instance_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(btrim(entry))) STORED,
    repo_key     text COLLATE "C" NOT NULL GENERATED ALWAYS AS (regexp_replace(regexp_replace(lower(entry),
        '^\s*([a-z][a-z0-9+.-]*://[^/]*/|[^/:]*:|[^/:]*\.[^/:]*/+(?=[^/]+/+[^/]))?/*', ''), '(\.git|/|\s)+$', '')) STORED,
    PRIMARY KEY (exclusion_id, entry)
);
CREATE INDEX exclusion_entries_instance ON exclusion_entries (instance_key);
CREATE INDEX exclusion_entries_repo ON exclusion_entries (repo_key);
CREATE TRIGGER exclusion_entries_immutable BEFORE UPDATE ON exclusion_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Tasks whose patch overlaps with one of a named benchmark: the largest share of each.
CREATE TABLE task_overlaps (
    benchmark_id      uuid NOT NULL REFERENCES benchmarks ON DELETE CASCADE,
    task_id           uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    benchmark_task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    share             double precision NOT NULL CHECK (share > 0 AND share <= 1), -- of the smaller patch's grams
    common            integer NOT NULL CHECK (common >= 1),                       -- grams that both have
    PRIMARY KEY (benchmark_id, task_id)
);
CREATE INDEX task_overlaps_task ON task_overlaps (task_id);

-- Benchmarks whose overlaps are stored, and the version of the measure. A process stores those of the others when it migrates.
CREATE TABLE measured_benchmarks (
    benchmark_id uuid PRIMARY KEY REFERENCES benchmarks ON DELETE CASCADE,
    measure      integer NOT NULL CHECK (measure >= 1)
);

---- create above / drop below ----

DROP TABLE measured_benchmarks, task_overlaps, exclusion_entries, exclusions;
