-- Instructions of judges. They never change.
CREATE TABLE judge_prompts (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'), -- SHA-256 of version and text
    version    integer NOT NULL CHECK (version >= 1),
    gold       boolean NOT NULL, -- is the gold patch shown?
    text       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A policy assigns a failure mode to a trajectory that is done and unresolved: the unit of that work.
-- What it said is beside the computed mode of the trajectory.
CREATE TABLE judgings (
    id              uuid PRIMARY KEY,
    trajectory_id   uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    attempt         integer NOT NULL, -- whose turns
    policy_id       uuid NOT NULL CONSTRAINT judgings_policy REFERENCES policies,
    prompt          text NOT NULL REFERENCES judge_prompts,
    state           text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    priority        integer NOT NULL DEFAULT 0 CONSTRAINT judgings_priority CHECK (priority BETWEEN -1000 AND 1000),
    claim           integer NOT NULL DEFAULT 0, -- counts how often it was claimed; part of the fence
    owner           text,
    lease_until     timestamptz,
    failure         text,
    outcome         text CHECK (outcome IN ('judged', 'invalid', 'missing')),
    reason          text,      -- why the last answer is invalid or missing
    mode            text,
    tool_use_error  boolean,
    explanation     text,
    turns           integer[], -- that the judge cited
    hidden_turns    integer NOT NULL DEFAULT 0 CHECK (hidden_turns >= 0),
    shortened_texts integer NOT NULL DEFAULT 0 CHECK (shortened_texts >= 0),
    gold_shown      boolean NOT NULL DEFAULT false,
    answers         integer NOT NULL DEFAULT 0 CHECK (answers >= 0),
    answer          text,      -- the last one
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at      timestamptz,
    ended_at        timestamptz,
    CONSTRAINT judgings_once UNIQUE (trajectory_id, policy_id, prompt),
    CONSTRAINT judgings_owned CHECK ((state = 'running') = (owner IS NOT NULL) AND (owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT judgings_done CHECK ((state = 'done') = (outcome IS NOT NULL)),
    CONSTRAINT judgings_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT judgings_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
    CONSTRAINT judgings_judged CHECK ((outcome IS NOT DISTINCT FROM 'judged') = (mode IS NOT NULL)
        AND (mode IS NULL) = (tool_use_error IS NULL) AND (mode IS NULL) = (explanation IS NULL) AND (mode IS NULL) = (turns IS NULL)),
    CONSTRAINT judgings_reason CHECK ((outcome IN ('invalid', 'missing')) IS TRUE = (reason IS NOT NULL)),
    CONSTRAINT judgings_mode CHECK (mode IN ('loop', 'overflow', 'budget', 'no_edit', 'other', 'syntax_or_runtime', 'wrong_file', 'wrong_solution'))
) WITH (fillfactor = 80);
CREATE INDEX judgings_page ON judgings (created_at DESC, id DESC);
CREATE INDEX judgings_open ON judgings (priority DESC, created_at, id) WHERE state IN ('queued', 'running'); -- what a claim reads
CREATE INDEX judgings_policies ON judgings (policy_id, created_at DESC, id DESC);
CREATE INDEX judgings_modes ON judgings (mode, trajectory_id) WHERE mode IS NOT NULL; -- a filter of lists

ALTER TABLE calls DROP CONSTRAINT calls_purpose_check;
ALTER TABLE calls ADD CONSTRAINT calls_purpose_check CHECK (purpose IN ('act', 'label', 'probe', 'score', 'judge'));

---- create above / drop below ----

DROP TABLE judgings, judge_prompts;
