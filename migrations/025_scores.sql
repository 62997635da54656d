-- A policy scores the tokens that a student sampled in a trajectory that is done: the unit of
-- that work. Turns without a row of scores are pending.
CREATE TABLE scorings (
    id            uuid PRIMARY KEY,
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    attempt       integer NOT NULL, -- whose turns
    policy_id     uuid NOT NULL CONSTRAINT scorings_policy REFERENCES policies,
    top_k         integer NOT NULL CONSTRAINT scorings_top_k CHECK (top_k BETWEEN 0 AND 20),
    state         text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    priority      integer NOT NULL DEFAULT 0 CONSTRAINT scorings_priority CHECK (priority BETWEEN -1000 AND 1000),
    claim         integer NOT NULL DEFAULT 0, -- counts how often it was claimed; part of the fence
    owner         text,
    lease_until   timestamptz,
    failure       text,
    turns         integer NOT NULL CHECK (turns > 0), -- of the student
    received      integer NOT NULL DEFAULT 0 CHECK (received >= 0),
    missing       integer NOT NULL DEFAULT 0 CHECK (missing >= 0),
    pending       integer NOT NULL CHECK (pending >= 0),
    tokens        bigint NOT NULL DEFAULT 0 CHECK (tokens >= 0), -- with a score
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at    timestamptz,
    ended_at      timestamptz,
    CONSTRAINT scorings_once UNIQUE (trajectory_id, policy_id),
    CONSTRAINT scorings_counts CHECK (received + missing + pending = turns),
    CONSTRAINT scorings_owned CHECK ((state = 'running') = (owner IS NOT NULL) AND (owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT scorings_done CHECK (state <> 'done' OR pending = 0),
    CONSTRAINT scorings_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT scorings_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX scorings_page ON scorings (created_at DESC, id DESC);
CREATE INDEX scorings_open ON scorings (priority DESC, created_at, id) WHERE state IN ('queued', 'running'); -- what a claim reads
CREATE INDEX scorings_policies ON scorings (policy_id, created_at DESC, id DESC);

-- Log-probabilities of the executed action's token_ids under a policy at temperature 1, as float32
-- in little-endian order: 4 bytes a token, and 8 more for each of its top_k most probable tokens.
-- They do not compress.
CREATE TABLE scores (
    trajectory_id uuid NOT NULL,
    attempt       integer NOT NULL,
    t             integer NOT NULL,
    policy_id     uuid NOT NULL CONSTRAINT scores_policy REFERENCES policies,
    reason        text,  -- why there is none
    logprobs      bytea,
    top_k         integer NOT NULL DEFAULT 0,
    top_ids       bytea, -- int32, little-endian, top_k at each token
    top_logprobs  bytea,
    PRIMARY KEY (trajectory_id, attempt, t, policy_id),
    CONSTRAINT scores_turn FOREIGN KEY (trajectory_id, attempt, t) REFERENCES turns ON DELETE CASCADE,
    CONSTRAINT scores_reason CHECK ((reason IS NULL) = (logprobs IS NOT NULL)),
    CONSTRAINT scores_top CHECK ((top_ids IS NULL) = (logprobs IS NULL OR top_k = 0) AND (top_ids IS NULL) = (top_logprobs IS NULL)
        AND (top_ids IS NULL OR octet_length(top_ids) = top_k * octet_length(logprobs) AND octet_length(top_logprobs) = octet_length(top_ids)))
);

ALTER TABLE scores ALTER COLUMN logprobs SET STORAGE EXTERNAL;
ALTER TABLE scores ALTER COLUMN top_ids SET STORAGE EXTERNAL;
ALTER TABLE scores ALTER COLUMN top_logprobs SET STORAGE EXTERNAL;

ALTER TABLE calls DROP CONSTRAINT calls_purpose_check;
ALTER TABLE calls ADD CONSTRAINT calls_purpose_check CHECK (purpose IN ('act', 'label', 'probe', 'score'));

---- create above / drop below ----

DROP TABLE scores, scorings;
