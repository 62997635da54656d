-- What rollouts leave: (state, policy) -> action.
--
-- A state is a place (trajectory, attempt, t). Its text is never stored: it is the
-- run's prompts and the executed actions and observations of the turns below t.

-- The state machine; the same relation as relabel.TrajectoryState.CanBecome.
CREATE FUNCTION can_become(was text, next text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE was
        WHEN 'queued'    THEN next IN ('running', 'labelling', 'cancelled')
        WHEN 'running'   THEN next IN ('labelling', 'queued', 'failed', 'cancelled')
        WHEN 'labelling' THEN next IN ('verifying', 'queued', 'failed', 'cancelled')
        WHEN 'verifying' THEN next IN ('done', 'queued', 'failed', 'cancelled')
        WHEN 'failed'    THEN next = 'queued' -- retried
        ELSE false
    END
$$;

CREATE TABLE trajectories (
    id             uuid PRIMARY KEY,
    run_id         uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    iteration_id   uuid NOT NULL,
    kind           text NOT NULL, -- the iteration's: it decides whether turns bear labels
    task_id        uuid NOT NULL REFERENCES tasks,
    generation     integer NOT NULL CHECK (generation >= 0),
    state          text NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'running', 'labelling', 'verifying', 'done', 'failed', 'cancelled')),
    attempt        integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    trail          integer NOT NULL DEFAULT 0, -- the attempt that holds the turns: an earlier one until it was replayed
    environment_failures integer NOT NULL DEFAULT 0 CHECK (environment_failures >= 0), -- attempts whose sandbox broke
    claimable_at   timestamptz NOT NULL DEFAULT clock_timestamp(), -- not before: a pause after a broken sandbox
    owner          text,
    lease_until    timestamptz,
    executors      text NOT NULL CHECK (executors ~ '^[Ts]+$'), -- b1…bT
    kappa          integer CHECK (kappa >= 0),
    end_reason     text CHECK (end_reason IN ('finish', 'max_turns', 'context', 'wall_clock', 'no_call')),
    submitted      boolean,
    patch_bytes    integer CHECK (patch_bytes >= 0), -- of its row in patches
    resolved       boolean, -- the current attempt's verdict, here for the lists
    verdict_reason text, -- why, as its verdict says
    failure        text CHECK (failure IN ('environment', 'image_missing', 'endpoint', 'verifier', 'secret', 'internal')),
    failure_detail text,
    -- Counts over the turns of the trail, kept by the statements that write them.
    turns          integer NOT NULL DEFAULT 0,
    teacher_turns  integer NOT NULL DEFAULT 0 CHECK (teacher_turns BETWEEN 0 AND turns),
    labels_had     integer NOT NULL DEFAULT 0 CHECK (labels_had >= 0),
    labels_owed    integer NOT NULL DEFAULT 0 CHECK (labels_owed >= 0),
    labels_missing integer NOT NULL DEFAULT 0 CHECK (labels_missing >= 0),
    compared       integer NOT NULL DEFAULT 0, -- student turns whose label is there
    agreed         integer NOT NULL DEFAULT 0 CHECK (agreed BETWEEN 0 AND compared),
    -- Who executed turn t: T the teacher; the student s while there is no label to compare with, a where it agrees, d where it differs.
    ribbon         text NOT NULL DEFAULT '' CHECK (ribbon ~ '^[Tsad]*$'),
    tokens         bigint NOT NULL DEFAULT 0 CHECK (tokens >= 0), -- of executed actions and labels, prompts and answers together
    tool_calls     integer NOT NULL DEFAULT 0, -- executed ones
    tool_failures  integer NOT NULL DEFAULT 0 CHECK (tool_failures BETWEEN 0 AND tool_calls),
    student_tool_calls    integer NOT NULL DEFAULT 0, -- the student's part of them
    student_tool_failures integer NOT NULL DEFAULT 0 CHECK (student_tool_failures BETWEEN 0 AND student_tool_calls),
    verdict        text NOT NULL GENERATED ALWAYS AS (CASE WHEN resolved THEN 'passed' WHEN NOT resolved THEN 'failed'
        WHEN state IN ('done', 'failed') THEN 'error' ELSE 'none' END) STORED, -- error: the infrastructure's
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at     timestamptz,
    ended_at       timestamptz,
    -- What lists are sorted by, once it is final: indexed as they are, the counts would have each turn's commit write all the indexes.
    final_turns     integer GENERATED ALWAYS AS (CASE WHEN ended_at IS NOT NULL THEN turns END) STORED,
    final_tokens    bigint GENERATED ALWAYS AS (CASE WHEN ended_at IS NOT NULL THEN tokens END) STORED,
    final_agreement double precision GENERATED ALWAYS AS (CASE WHEN ended_at IS NOT NULL THEN agreed::double precision / nullif(compared, 0) END) STORED,
    final_differs   integer GENERATED ALWAYS AS (CASE WHEN ended_at IS NOT NULL THEN nullif(position('d' IN ribbon), 0) END) STORED, -- the first turn that does
    CONSTRAINT trajectories_drawn UNIQUE (iteration_id, task_id, generation),
    CONSTRAINT trajectories_id_kind UNIQUE (id, kind),
    CONSTRAINT trajectories_iteration FOREIGN KEY (iteration_id, kind) REFERENCES iterations (id, kind) ON DELETE CASCADE,
    CONSTRAINT trajectories_owned CHECK (CASE state
        WHEN 'running' THEN owner IS NOT NULL
        WHEN 'verifying' THEN owner IS NOT NULL
        WHEN 'labelling' THEN true -- without an owner it waits for its iteration's labelling
        ELSE owner IS NULL END),
    CONSTRAINT trajectories_leased CHECK ((owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT trajectories_attempted CHECK (attempt >= 1 OR state IN ('queued', 'cancelled')),
    CONSTRAINT trajectories_trail CHECK (trail <= attempt AND (trail = 0) = (attempt = 0)),
    CONSTRAINT trajectories_replayed CHECK (trail = attempt OR state NOT IN ('verifying', 'done')),
    CONSTRAINT trajectories_started CHECK ((attempt = 0) = (started_at IS NULL)),
    CONSTRAINT trajectories_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
    CONSTRAINT trajectories_end_reason CHECK (CASE
        WHEN state = 'running' THEN end_reason IS NULL
        WHEN state IN ('labelling', 'verifying', 'done') THEN end_reason IS NOT NULL
        ELSE true END),
    CONSTRAINT trajectories_submission CHECK ((end_reason IS NULL) = (submitted IS NULL) AND (end_reason IS NULL) = (patch_bytes IS NULL)),
    CONSTRAINT trajectories_submitted CHECK (NOT submitted OR patch_bytes > 0),
    CONSTRAINT trajectories_failure CHECK ((state = 'failed') = (failure IS NOT NULL) AND (failure IS NULL) = (failure_detail IS NULL)),
    CONSTRAINT trajectories_resolved CHECK (resolved IS NULL OR state = 'done'),
    CONSTRAINT trajectories_judged CHECK ((resolved IS NULL) = (verdict_reason IS NULL)),
    CONSTRAINT trajectories_turns CHECK (turns BETWEEN 0 AND length(executors)),
    CONSTRAINT trajectories_ribbon CHECK (length(ribbon) = turns),
    CONSTRAINT trajectories_labels CHECK (labels_had + labels_owed + labels_missing = CASE kind WHEN 'collect' THEN turns ELSE 0 END),
    CONSTRAINT trajectories_owed CHECK (labels_owed = 0 OR state IN ('queued', 'running', 'labelling'))
) WITH (fillfactor = 80); -- room for the counts and the lease to change in place

-- What a claim reads: the oldest queued trajectory of an iteration, and how many of each
-- run workers hold. Neither is touched by a turn or a heartbeat.
CREATE INDEX trajectories_queued ON trajectories (iteration_id, id) WHERE state = 'queued';
CREATE INDEX trajectories_held ON trajectories (run_id, owner) WHERE owner IS NOT NULL;
-- What deferred labelling asks: whether an iteration still rolls out, and what waits.
CREATE INDEX trajectories_rolling ON trajectories (iteration_id) WHERE state IN ('queued', 'running') AND end_reason IS NULL;
CREATE INDEX trajectories_waiting ON trajectories (iteration_id) WHERE state = 'labelling' AND owner IS NULL;

-- A page of each list, newest first, for each filter of the viewer; then sorted by what is final. A list of
-- several iterations is made of a page of each, so that the latter need not be there for runs too.
CREATE INDEX trajectories_page ON trajectories (created_at DESC, id DESC);
CREATE INDEX trajectories_run ON trajectories (run_id, created_at DESC, id DESC);
CREATE INDEX trajectories_of_iteration ON trajectories (iteration_id, created_at DESC, id DESC);
CREATE INDEX trajectories_task ON trajectories (task_id, created_at DESC, id DESC);
CREATE INDEX trajectories_state ON trajectories (state, created_at DESC, id DESC);
CREATE INDEX trajectories_by_end_reason ON trajectories (end_reason, created_at DESC, id DESC) WHERE end_reason IS NOT NULL;
CREATE INDEX trajectories_by_failure ON trajectories (failure, created_at DESC, id DESC) WHERE failure IS NOT NULL;
CREATE INDEX trajectories_by_verdict ON trajectories (verdict, created_at DESC, id DESC);
CREATE INDEX trajectories_by_verdict_reason ON trajectories (verdict_reason, created_at DESC, id DESC) WHERE verdict_reason IS NOT NULL;
CREATE INDEX trajectories_by_submitted ON trajectories (submitted, created_at DESC, id DESC) WHERE submitted IS NOT NULL;
CREATE INDEX trajectories_by_labels_missing ON trajectories (created_at DESC, id DESC) WHERE labels_missing > 0;
CREATE INDEX trajectories_open ON trajectories (iteration_id, created_at DESC, id DESC) WHERE ended_at IS NULL;
CREATE INDEX trajectories_by_turns ON trajectories (iteration_id, final_turns, id) WHERE final_turns IS NOT NULL;
CREATE INDEX trajectories_by_tokens ON trajectories (iteration_id, final_tokens, id) WHERE final_tokens IS NOT NULL;
CREATE INDEX trajectories_by_agreement ON trajectories (iteration_id, final_agreement, id) WHERE final_agreement IS NOT NULL;
CREATE INDEX trajectories_by_differs ON trajectories (iteration_id, final_differs, id) WHERE final_differs IS NOT NULL;

CREATE TRIGGER trajectories_begin BEFORE INSERT ON trajectories
    FOR EACH ROW WHEN (NEW.state <> 'queued') EXECUTE FUNCTION refuse_step();
CREATE TRIGGER trajectories_step BEFORE UPDATE OF state ON trajectories
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND NOT can_become(OLD.state, NEW.state)) EXECUTE FUNCTION refuse_step();

-- What rollouts left in the working tree, apart from the rows that lists read.
CREATE TABLE patches (
    trajectory_id uuid PRIMARY KEY REFERENCES trajectories ON DELETE CASCADE,
    patch         bytea COMPRESSION lz4 NOT NULL -- against base_commit; empty: no submission
);

CREATE TABLE attempts (
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    number        integer NOT NULL CHECK (number >= 1),
    worker        text NOT NULL,
    docker_host   text NOT NULL DEFAULT '',
    container     text NOT NULL DEFAULT '',
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at      timestamptz,
    outcome       text CHECK (outcome IN ('done', 'failed', 'released', 'lost', 'environment', 'diverged', 'cancelled')),
    reason        text,
    continued_by  integer, -- the attempt that replayed this one and has its turns now
    PRIMARY KEY (trajectory_id, number),
    CONSTRAINT attempts_continued CHECK (continued_by IS NULL OR continued_by > number AND outcome IS NOT NULL AND outcome <> 'diverged'),
    CONSTRAINT attempts_continued_by FOREIGN KEY (trajectory_id, continued_by) REFERENCES attempts,
    CONSTRAINT attempts_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX attempts_open ON attempts (trajectory_id) WHERE outcome IS NULL; -- one at a time

-- Turns, actions and observations change their attempt when another one takes them over;
-- the constraints between them then wait for the commit.

-- Where an attempt's time went, phase by phase, as its worker tells just before it ends.
-- One whose worker died has no row.
CREATE TABLE attempt_times (
    trajectory_id uuid NOT NULL,
    number        integer NOT NULL,
    start_ms      bigint NOT NULL,
    slot_ms       bigint NOT NULL,
    replay_ms     bigint NOT NULL,
    endpoint_ms   bigint NOT NULL,
    model_ms      bigint NOT NULL,
    sandbox_ms    bigint NOT NULL,
    database_ms   bigint NOT NULL,
    end_ms        bigint NOT NULL,
    labels_ms     bigint NOT NULL,
    verify_ms     bigint NOT NULL,
    engine_ms     bigint NOT NULL,
    ideal_ms      bigint NOT NULL, -- the trajectory's critical path up to then
    PRIMARY KEY (trajectory_id, number),
    CONSTRAINT attempt_times_attempt FOREIGN KEY (trajectory_id, number) REFERENCES attempts ON DELETE CASCADE
);

-- Turn t points at two actions of its state: the one that was executed and the label.
-- Both are one column, so a turn has exactly one of each; where the teacher executed
-- they are the same row. Turns of a collect iteration always have a label, those of an
-- evaluation never do.
CREATE TABLE turns (
    trajectory_id      uuid NOT NULL,
    attempt            integer NOT NULL,
    t                  integer NOT NULL CHECK (t >= 1),
    kind               text NOT NULL,
    executor           text NOT NULL CHECK (executor IN ('teacher', 'student')),
    executor_policy_id uuid NOT NULL,
    executor_sample    smallint NOT NULL,
    label_policy_id    uuid,
    label_sample       smallint,
    agrees             boolean, -- student turns whose label is there: is the action the same?
    tree               text NOT NULL,
    started_at         timestamptz NOT NULL,
    ended_at           timestamptz NOT NULL,
    -- Where its time went beside the executed action's millis.
    endpoint_ms        bigint NOT NULL CHECK (endpoint_ms >= 0),
    sandbox_ms         bigint NOT NULL CHECK (sandbox_ms >= 0),
    database_ms        bigint NOT NULL CHECK (database_ms >= 0), -- writes since the turn before
    PRIMARY KEY (trajectory_id, attempt, t),
    CONSTRAINT turns_attempt FOREIGN KEY (trajectory_id, attempt) REFERENCES attempts ON DELETE CASCADE,
    CONSTRAINT turns_kind FOREIGN KEY (trajectory_id, kind) REFERENCES trajectories (id, kind) ON DELETE CASCADE,
    CONSTRAINT turns_labelled CHECK ((kind = 'collect') = (label_policy_id IS NOT NULL)),
    CONSTRAINT turns_label_whole CHECK ((label_policy_id IS NULL) = (label_sample IS NULL)),
    CONSTRAINT turns_teacher_labels CHECK (executor = 'student'
        OR (label_policy_id IS NOT DISTINCT FROM executor_policy_id AND label_sample IS NOT DISTINCT FROM executor_sample)),
    CONSTRAINT turns_student_apart CHECK (executor = 'teacher' OR label_policy_id IS NULL
        OR (label_policy_id, label_sample) <> (executor_policy_id, executor_sample)),
    CONSTRAINT turns_times CHECK (started_at <= ended_at)
);

-- What a policy answered at a state: one row for each policy. A round may have the same
-- policy version as teacher and as student; its executed action and its label are then
-- two samples, told apart by sample. What a relabeling asked for afterwards is a third.
CREATE TABLE actions (
    trajectory_id     uuid NOT NULL,
    attempt           integer NOT NULL,
    t                 integer NOT NULL,
    policy_id         uuid NOT NULL CONSTRAINT actions_policy REFERENCES policies,
    sample            smallint NOT NULL DEFAULT 0 CHECK (sample IN (0, 1, 2)), -- 1: a label beside the same policy's own action; 2: of a relabeling
    status            text NOT NULL CHECK (status IN ('owed', 'had', 'missing')),
    reason            text,
    raw               bytea COMPRESSION lz4, -- the canonical message; the server's own bytes, but where said has those
    said              bytea COMPRESSION lz4, -- the message as its server wrote it, where its text had to be taken apart
    read_as           text[],                -- how it was
    not_given         text[],                -- what was asked of the server beside the message and did not come
    finish_reason     text NOT NULL DEFAULT '',
    refusal           bytea COMPRESSION lz4,
    parse             text NOT NULL DEFAULT '',
    token_ids         integer[] COMPRESSION lz4,
    -- The prompt's ids: the first prompt_shared of the base's prompt and sampled ids, then the
    -- rest. The base is another action of this policy in this attempt that was written before.
    prompt_base_t      integer,
    prompt_base_sample smallint,
    prompt_shared      integer CHECK (prompt_shared > 0),
    prompt_rest        integer[] COMPRESSION lz4, -- null where the server gave none
    logprobs          real[] COMPRESSION lz4,
    prompt_tokens     integer,
    completion_tokens integer,
    cached_tokens     integer,
    model             text NOT NULL DEFAULT '',
    fingerprint       text NOT NULL DEFAULT '',
    millis            bigint NOT NULL DEFAULT 0 CHECK (millis >= 0), -- from sending the request that was answered to its last byte
    PRIMARY KEY (trajectory_id, attempt, t, policy_id, sample),
    CONSTRAINT actions_turn FOREIGN KEY (trajectory_id, attempt, t) REFERENCES turns ON DELETE CASCADE DEFERRABLE,
    CONSTRAINT actions_prompt_base FOREIGN KEY (trajectory_id, attempt, prompt_base_t, policy_id, prompt_base_sample) REFERENCES actions DEFERRABLE,
    CONSTRAINT actions_prompt CHECK ((prompt_base_t IS NULL) = (prompt_shared IS NULL) AND (prompt_base_sample IS NULL) = (prompt_shared IS NULL)
        AND (prompt_shared IS NULL OR prompt_rest IS NOT NULL)),
    CONSTRAINT actions_had CHECK ((status = 'had') = (raw IS NOT NULL)),
    CONSTRAINT actions_said CHECK (said IS NULL OR status = 'had'),
    CONSTRAINT actions_reason CHECK ((status = 'missing') = (reason IS NOT NULL)),
    CONSTRAINT actions_usage CHECK ((prompt_tokens IS NULL) = (completion_tokens IS NULL) AND (prompt_tokens IS NULL) = (cached_tokens IS NULL))
);
CREATE INDEX actions_owed ON actions (trajectory_id, attempt, t) WHERE status = 'owed'; -- the label queue
CREATE INDEX actions_prompt_bases ON actions (trajectory_id, attempt, prompt_base_t) WHERE prompt_base_t IS NOT NULL; -- when a run is deleted

-- The two are stored one after the other in one transaction.
ALTER TABLE turns
    ADD CONSTRAINT turns_executed FOREIGN KEY (trajectory_id, attempt, t, executor_policy_id, executor_sample)
        REFERENCES actions DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT turns_label FOREIGN KEY (trajectory_id, attempt, t, label_policy_id, label_sample)
        REFERENCES actions DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE observations (
    trajectory_id uuid NOT NULL,
    attempt       integer NOT NULL,
    t             integer NOT NULL,
    k             integer NOT NULL CHECK (k >= 0), -- call k of the action
    call_id       text NOT NULL,
    tool          bytea NOT NULL, -- as the model called it
    content       bytea COMPRESSION lz4 NOT NULL,
    exit_code     integer,
    failed        boolean NOT NULL,
    millis        bigint NOT NULL,
    PRIMARY KEY (trajectory_id, attempt, t, k),
    CONSTRAINT observations_turn FOREIGN KEY (trajectory_id, attempt, t) REFERENCES turns ON DELETE CASCADE DEFERRABLE
);

CREATE TABLE calls (
    id                uuid PRIMARY KEY,
    policy_id         uuid NOT NULL CONSTRAINT calls_policy REFERENCES policies,
    trajectory_id     uuid CONSTRAINT calls_trajectory REFERENCES trajectories ON DELETE CASCADE,
    attempt           integer NOT NULL,
    t                 integer NOT NULL,
    purpose           text NOT NULL CHECK (purpose IN ('act', 'label', 'probe')),
    started_at        timestamptz NOT NULL,
    millis            bigint NOT NULL CHECK (millis >= 0),
    queue_millis      bigint NOT NULL CHECK (queue_millis >= 0),
    base_url          text NOT NULL,
    hedged            boolean NOT NULL,
    tries             integer NOT NULL CHECK (tries >= 0),
    status            integer NOT NULL,
    finish_reason     text NOT NULL,
    prompt_tokens     integer,
    completion_tokens integer,
    cached_tokens     integer,
    cost_micros       bigint, -- millionths of the policy's currency; null where it is not known
    model             text NOT NULL,
    error             text NOT NULL,
    error_body        bytea COMPRESSION lz4
);
CREATE INDEX calls_of_trajectory ON calls (trajectory_id, started_at, id);
CREATE INDEX calls_of_policy ON calls (policy_id, started_at DESC); -- how it fares of late
CREATE INDEX calls_in_vain ON calls (policy_id, started_at DESC) WHERE error <> '';

-- What the calls to a policy for a run's iteration have used: the sum over its slots. There
-- are several, so that calls that end at the same moment do not wait for each other.
CREATE TABLE spend (
    run_id            uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    iteration_id      uuid NOT NULL REFERENCES iterations ON DELETE CASCADE,
    policy_id         uuid NOT NULL REFERENCES policies,
    slot              smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
    calls             bigint NOT NULL,
    prompt_tokens     bigint NOT NULL,
    cached_tokens     bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cost_micros       bigint NOT NULL,
    PRIMARY KEY (run_id, iteration_id, policy_id, slot)
) WITH (fillfactor = 50);
CREATE INDEX spend_of_policy ON spend (policy_id, run_id);

CREATE FUNCTION count_spend() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO spend AS s (run_id, iteration_id, policy_id, slot, calls, prompt_tokens, cached_tokens, completion_tokens, cost_micros)
    SELECT tr.run_id, tr.iteration_id, NEW.policy_id, floor(random() * 16), 1, coalesce(NEW.prompt_tokens, 0), coalesce(NEW.cached_tokens, 0),
        coalesce(NEW.completion_tokens, 0), coalesce(NEW.cost_micros, 0)
    FROM trajectories tr WHERE tr.id = NEW.trajectory_id
    ON CONFLICT (run_id, iteration_id, policy_id, slot) DO UPDATE SET calls = s.calls + 1, prompt_tokens = s.prompt_tokens + EXCLUDED.prompt_tokens,
        cached_tokens = s.cached_tokens + EXCLUDED.cached_tokens, completion_tokens = s.completion_tokens + EXCLUDED.completion_tokens,
        cost_micros = s.cost_micros + EXCLUDED.cost_micros;
    RETURN NULL;
END $$;
CREATE TRIGGER calls_spend AFTER INSERT ON calls FOR EACH ROW WHEN (NEW.trajectory_id IS NOT NULL) EXECUTE FUNCTION count_spend();

CREATE TABLE verdicts (
    trajectory_id uuid NOT NULL,
    attempt       integer NOT NULL,
    resolved      boolean NOT NULL,
    reason        text NOT NULL,
    tests         json COMPRESSION lz4,
    output        bytea COMPRESSION lz4 NOT NULL,
    infra         text NOT NULL, -- '' unless the verifier itself broke: then resolved says nothing
    millis        bigint NOT NULL,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (trajectory_id, attempt),
    CONSTRAINT verdicts_attempt FOREIGN KEY (trajectory_id, attempt) REFERENCES attempts ON DELETE CASCADE,
    CONSTRAINT verdicts_infra CHECK (infra = '' OR NOT resolved)
);

-- Another teacher is asked at every state of a trajectory that is done: the unit of that
-- work. What was answered so far are the rows of actions with this policy and sample 2;
-- what is owed has none.
CREATE TABLE relabelings (
    id            uuid PRIMARY KEY,
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    attempt       integer NOT NULL, -- whose states
    policy_id     uuid NOT NULL CONSTRAINT relabelings_policy REFERENCES policies,
    state         text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    priority      integer NOT NULL DEFAULT 0 CONSTRAINT relabelings_priority CHECK (priority BETWEEN -1000 AND 1000),
    claim         integer NOT NULL DEFAULT 0, -- counts how often it was claimed; part of the fence
    owner         text,
    lease_until   timestamptz,
    failure       text,
    turns         integer NOT NULL CHECK (turns >= 0),
    had           integer NOT NULL DEFAULT 0 CHECK (had >= 0),
    missing       integer NOT NULL DEFAULT 0 CHECK (missing >= 0),
    owed          integer NOT NULL CHECK (owed >= 0),
    compared      integer NOT NULL DEFAULT 0 CHECK (compared BETWEEN 0 AND had), -- with the first label, where that is had
    agreed        integer NOT NULL DEFAULT 0 CHECK (agreed BETWEEN 0 AND compared),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at    timestamptz,
    ended_at      timestamptz,
    CONSTRAINT relabelings_once UNIQUE (trajectory_id, policy_id),
    CONSTRAINT relabelings_counts CHECK (had + missing + owed = turns),
    CONSTRAINT relabelings_owned CHECK ((state = 'running') = (owner IS NOT NULL) AND (owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT relabelings_done CHECK (state <> 'done' OR owed = 0),
    CONSTRAINT relabelings_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT relabelings_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX relabelings_page ON relabelings (created_at DESC, id DESC);
CREATE INDEX relabelings_open ON relabelings (priority DESC, created_at, id) WHERE state IN ('queued', 'running'); -- what a claim reads
CREATE INDEX relabelings_policies ON relabelings (policy_id, created_at DESC, id DESC);

-- Owed labels that go to the teacher's batch endpoint. The set is stored before anything
-- is sent, and 'sending' before the request that the endpoint may take; so nothing is
-- sent twice, whoever dies when.
CREATE TABLE label_batches (
    id           uuid PRIMARY KEY,
    iteration_id uuid NOT NULL REFERENCES iterations ON DELETE CASCADE,
    policy_id    uuid NOT NULL REFERENCES policies,
    state        text NOT NULL DEFAULT 'prepared' CHECK (state IN ('prepared', 'sending', 'sent', 'done', 'failed', 'cancelled')),
    round        integer NOT NULL DEFAULT 1 CHECK (round >= 1), -- what failed goes into a batch of the next round
    remote_file  text NOT NULL DEFAULT '',
    remote_id    text NOT NULL DEFAULT '',
    remote_state text NOT NULL DEFAULT '',
    detail       text NOT NULL DEFAULT '',
    claim        integer NOT NULL DEFAULT 0, -- counts how often it was claimed; part of the fence
    owner        text,
    lease_until  timestamptz,
    due_at       timestamptz NOT NULL DEFAULT clock_timestamp(), -- when to look at it next
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at      timestamptz,
    ended_at     timestamptz,
    CONSTRAINT label_batches_leased CHECK ((owner IS NULL) = (lease_until IS NULL)),
    CONSTRAINT label_batches_sent CHECK (state <> 'sent' OR remote_id <> ''),
    CONSTRAINT label_batches_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL) AND (ended_at IS NULL OR owner IS NULL))
);
CREATE INDEX label_batches_of_iteration ON label_batches (iteration_id, created_at, id);
CREATE INDEX label_batches_due ON label_batches (due_at) WHERE ended_at IS NULL;

CREATE TABLE label_batch_items (
    batch_id      uuid NOT NULL REFERENCES label_batches ON DELETE CASCADE,
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    attempt       integer NOT NULL,
    t             integer NOT NULL,
    status        text NOT NULL DEFAULT 'asked' CHECK (status IN ('asked', 'had', 'missing', 'returned')),
    PRIMARY KEY (batch_id, trajectory_id, t)
);
CREATE INDEX label_batch_items_of_trajectory ON label_batch_items (trajectory_id);
CREATE UNIQUE INDEX label_batch_items_once ON label_batch_items (trajectory_id, attempt, t) WHERE status = 'asked'; -- in one batch at a time

---- create above / drop below ----

DROP TABLE label_batch_items, label_batches, relabelings, verdicts, spend, calls, observations, actions, turns, attempt_times, attempts, patches, trajectories;
DROP FUNCTION count_spend, can_become;
