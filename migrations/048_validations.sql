-- Validations of tasks: their tests with the gold patch and without a patch, several times each. The newest of a task
-- counts. A row that takes the place of another has a copy of its newest validation, with the runs of that.
CREATE TABLE validations (
    id             uuid PRIMARY KEY,
    task_id        uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    times          integer NOT NULL CHECK (times >= 1),
    verify_seconds integer NOT NULL CHECK (verify_seconds >= 1),
    state          text NOT NULL CHECK (state IN ('sound', 'flaky', 'broken', 'infra')),
    reason         text NOT NULL, -- '': none
    problem        text COMPRESSION lz4 NOT NULL,
    flaky          json COMPRESSION lz4, -- null: none
    runs           json COMPRESSION lz4 NOT NULL,
    runs_of        uuid REFERENCES validations ON DELETE CASCADE, -- null: its own
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT validations_sound CHECK ((state = 'sound') = (reason = '') AND (reason = '') = (problem = ''))
);
CREATE INDEX validations_task ON validations (task_id, created_at DESC, id DESC);
CREATE INDEX validations_runs_of ON validations (runs_of) WHERE runs_of IS NOT NULL;
CREATE TRIGGER validations_immutable BEFORE UPDATE ON validations FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- What the test command printed, in gzip: it arrives so.
CREATE TABLE validation_logs (
    validation_id uuid NOT NULL REFERENCES validations ON DELETE CASCADE,
    patch         text NOT NULL CHECK (patch IN ('gold', 'empty')),
    number        integer NOT NULL CHECK (number >= 1),
    log           bytea NOT NULL,
    PRIMARY KEY (validation_id, patch, number)
);
ALTER TABLE validation_logs ALTER COLUMN log SET STORAGE EXTERNAL;

---- create above / drop below ----

DROP TABLE validation_logs, validations;
