-- Weights that relabel loaded into the servers of a policy version, and checks of the weights that servers have.
ALTER TABLE policies ADD COLUMN weights json; -- null: relabel loaded none

CREATE TABLE weight_checks (
    id           uuid PRIMARY KEY,
    policy_id    uuid NOT NULL REFERENCES policies ON DELETE CASCADE,
    iteration_id uuid REFERENCES iterations ON DELETE CASCADE, -- null: relabel loaded the weights
    occasion     text NOT NULL CHECK (occasion IN ('start', 'resume', 'running', 'load')),
    result       text NOT NULL CHECK (result IN ('checked', 'doubted', 'not_checked')),
    distance     float8 CHECK (distance >= 0), -- null: fewer than two fingerprints, or of other texts
    tolerance    float8 NOT NULL CHECK (tolerance >= 0),
    doubts       json, -- null: none
    note         text NOT NULL DEFAULT '',
    fingerprints json COMPRESSION lz4 NOT NULL,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT weight_checks_iteration CHECK ((iteration_id IS NULL) = (occasion = 'load')),
    CONSTRAINT weight_checks_doubts CHECK ((result = 'doubted') = (doubts IS NOT NULL))
);
CREATE INDEX weight_checks_of_iteration ON weight_checks (iteration_id, at DESC, id DESC) WHERE iteration_id IS NOT NULL;
CREATE INDEX weight_checks_of_policy ON weight_checks (policy_id, at DESC, id DESC);
CREATE TRIGGER weight_checks_immutable BEFORE UPDATE ON weight_checks FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- When a worker last began to check the weights of a running iteration.
CREATE TABLE weight_watch (
    iteration_id uuid PRIMARY KEY REFERENCES iterations ON DELETE CASCADE,
    checked_at   timestamptz NOT NULL
);

---- create above / drop below ----

DROP TABLE weight_watch, weight_checks;
ALTER TABLE policies DROP COLUMN weights;
