-- Grading the stored submission of a trajectory that is done again.

CREATE TABLE regradings (
    id            uuid PRIMARY KEY,
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    state         text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    claim         integer NOT NULL DEFAULT 0, -- counts the claims; part of the fence
    tries         integer NOT NULL DEFAULT 0 CHECK (tries >= 0), -- that ended with an infrastructure error or with the worker
    owner         text,
    lease_until   timestamptz,
    due_at        timestamptz NOT NULL DEFAULT clock_timestamp(), -- not claimed before
    failure       text, -- the last infrastructure error
    changed       boolean, -- passed differs from the verdict before
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at    timestamptz,
    ended_at      timestamptz,
    CONSTRAINT regradings_owned CHECK ((state = 'running') = (owner IS NOT NULL) AND (owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT regradings_failure CHECK (state <> 'failed' OR failure IS NOT NULL),
    CONSTRAINT regradings_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX regradings_once ON regradings (trajectory_id) WHERE state IN ('queued', 'running');
CREATE INDEX regradings_due ON regradings (due_at, id) WHERE state IN ('queued', 'running');
CREATE INDEX regradings_of_trajectory ON regradings (trajectory_id, created_at DESC, id DESC);

-- When a verdict of an iteration's trajectories was last replaced: sums over an iteration
-- that has ended are kept until then.
ALTER TABLE iterations ADD COLUMN regraded_at timestamptz;
