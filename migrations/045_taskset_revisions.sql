-- Revisions of task sets. Rows of tasks never change: a changed task is another row with the same instance id. A
-- task set at revision R has the rows with added_in <= R and (replaced_in IS NULL OR replaced_in > R).
CREATE TABLE taskset_revisions (
    taskset_id uuid NOT NULL REFERENCES tasksets ON DELETE CASCADE,
    revision   integer NOT NULL CHECK (revision >= 1),
    change     text NOT NULL CHECK (change IN ('import', 'append', 'exclude', 'include', 'drop_flaky')),
    digest     text NOT NULL,                             -- hex SHA-256 of the file that it added; '': none
    changed    integer NOT NULL CHECK (changed >= 0),     -- rows that it added
    tasks      integer NOT NULL CHECK (tasks >= 0),       -- of the task set at this revision
    held_out   integer NOT NULL CHECK (held_out >= 0 AND held_out <= tasks),
    excluded   integer NOT NULL CHECK (excluded >= 0 AND excluded <= tasks),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (taskset_id, revision)
);
CREATE TRIGGER taskset_revisions_immutable BEFORE UPDATE ON taskset_revisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
INSERT INTO taskset_revisions (taskset_id, revision, change, digest, changed, tasks, held_out, excluded, created_at)
    SELECT id, 1, 'import', digest, tasks, tasks, held_out, 0, created_at FROM tasksets;

ALTER TABLE tasksets
    DROP COLUMN tasks, -- of revisions, as held_out
    DROP COLUMN held_out,
    ADD COLUMN revision integer NOT NULL DEFAULT 1 CHECK (revision >= 1); -- the newest
CREATE FUNCTION refuse_taskset_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    OLD.revision := OLD.revision + 1;
    IF NOT (OLD *= NEW) THEN
        RAISE EXCEPTION 'tasksets are immutable' USING ERRCODE = 'check_violation', CONSTRAINT = 'tasksets_immutable';
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER tasksets_immutable ON tasksets;
CREATE TRIGGER tasksets_immutable AFTER UPDATE ON tasksets FOR EACH ROW EXECUTE FUNCTION refuse_taskset_change();

ALTER TABLE tasks
    ADD COLUMN added_in integer NOT NULL DEFAULT 1 CHECK (added_in >= 1), -- the first revision with this row
    ADD COLUMN replaced_in integer CHECK (replaced_in > added_in),        -- the first revision without it; null: the newest has it
    ADD COLUMN excluded text COMPRESSION lz4 CHECK (excluded <> ''),      -- why no run draws it; null: runs draw it
    DROP CONSTRAINT tasks_instance;
CREATE UNIQUE INDEX tasks_instance ON tasks (taskset_id, instance_id) WHERE replaced_in IS NULL;
CREATE UNIQUE INDEX tasks_revision ON tasks (taskset_id, instance_id, added_in);
-- AFTER: generated columns are not known before. *= compares json too.
CREATE FUNCTION refuse_task_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.replaced_in IS NULL THEN
        OLD.replaced_in := NEW.replaced_in;
    END IF;
    IF NOT (OLD *= NEW) THEN
        RAISE EXCEPTION 'tasks are immutable' USING ERRCODE = 'check_violation', CONSTRAINT = 'tasks_immutable';
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER tasks_immutable ON tasks;
CREATE TRIGGER tasks_immutable AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION refuse_task_change();

-- The revisions that runs and benchmarks draw from.
ALTER TABLE runs ADD COLUMN taskset_revision integer NOT NULL DEFAULT 1 CHECK (taskset_revision >= 1);
ALTER TABLE benchmarks ADD COLUMN taskset_revision integer NOT NULL DEFAULT 1 CHECK (taskset_revision >= 1);
