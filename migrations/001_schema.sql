-- What a run is made of: tasks, policies, runs and their iterations.
--
-- Times are this server's clock. Long text that a model, a repository or a file
-- brought is bytea, because text cannot hold NUL or broken UTF-8; it is compressed
-- with lz4. JSON stands in json, never jsonb: order and numbers stay as written.

-- What was applied, and with which text: a row is written by its migration's own
-- transaction, so that a text that was changed afterwards is noticed.
CREATE TABLE relabel_schema_texts (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL, -- hex
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% are immutable', TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_immutable';
END $$;

CREATE FUNCTION refuse_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%: what is % cannot become %', TG_TABLE_NAME, CASE TG_OP WHEN 'UPDATE' THEN OLD.state ELSE 'new' END, NEW.state
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_step';
END $$;

CREATE TABLE tasksets (
    id         uuid PRIMARY KEY,
    name       text NOT NULL CONSTRAINT tasksets_name UNIQUE CHECK (name <> ''),
    digest     text NOT NULL,                       -- hex SHA-256 of the file they came from
    tasks      integer NOT NULL CHECK (tasks >= 0), -- counted once: a taskset never changes
    held_out   integer NOT NULL CHECK (held_out BETWEEN 0 AND tasks),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX tasksets_page ON tasksets (created_at DESC, id DESC);
CREATE TRIGGER tasksets_immutable BEFORE UPDATE ON tasksets FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE tasks (
    id                uuid PRIMARY KEY,
    taskset_id        uuid NOT NULL REFERENCES tasksets ON DELETE CASCADE,
    instance_id       text COLLATE "C" NOT NULL CHECK (instance_id <> ''),
    repo              text NOT NULL,
    base_commit       text NOT NULL,
    image             text NOT NULL,
    workdir           text NOT NULL,
    problem_statement bytea COMPRESSION lz4 NOT NULL,
    hints_text        bytea COMPRESSION lz4 NOT NULL,
    patch             bytea COMPRESSION lz4 NOT NULL,
    test_patch        bytea COMPRESSION lz4 NOT NULL,
    test_cmd          text NOT NULL,
    log_parser        text NOT NULL,
    fail_to_pass      json COMPRESSION lz4 NOT NULL,
    pass_to_pass      json COMPRESSION lz4 NOT NULL,
    held_out          boolean NOT NULL,
    CONSTRAINT tasks_instance UNIQUE (taskset_id, instance_id)
);
CREATE INDEX tasks_instance_id ON tasks (instance_id);
CREATE TRIGGER tasks_immutable BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A policy never changes: a change is a new version, so provenance never moves.
CREATE TABLE policies (
    id              uuid PRIMARY KEY,
    name            text NOT NULL CHECK (name <> '' AND position('@' IN name) = 0), -- name@version names a version
    version         integer NOT NULL CHECK (version >= 1),
    base_url        text NOT NULL,
    replicas        text[], -- further addresses of the same model; null: none
    model           text NOT NULL,
    server          text NOT NULL,
    tool_format     text NOT NULL CHECK (tool_format IN ('native', 'text')),
    secret          text NOT NULL, -- the name of a secret, never its value
    temperature     double precision NOT NULL CHECK (temperature BETWEEN 0 AND 100),
    top_p           double precision NOT NULL CHECK (top_p BETWEEN 0 AND 1),
    max_tokens      integer NOT NULL CHECK (max_tokens >= 0),
    concurrency         integer NOT NULL CHECK (concurrency >= 0),
    requests_per_minute integer NOT NULL CHECK (requests_per_minute >= 0), -- 0: no limit
    tokens_per_minute   integer NOT NULL CHECK (tokens_per_minute >= 0),   -- 0: no limit
    timeout_seconds     integer NOT NULL CHECK (timeout_seconds >= 0),
    retries             integer NOT NULL CHECK (retries >= 0),
    patience_seconds    integer NOT NULL CHECK (patience_seconds >= 0),
    hedge_after_seconds integer NOT NULL CHECK (hedge_after_seconds >= 0), -- 0: never
    price           json, -- a million tokens: input, cached, output, currency, batch; null: not known
    cache_markers   text NOT NULL,
    tokenizer       text NOT NULL, -- a folder on the machines that build exports; '': not said
    chat_template   text NOT NULL, -- a file there; '': the folder's own
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT policies_version UNIQUE (name, version)
);
CREATE INDEX policies_page ON policies (created_at DESC, id DESC);
CREATE TRIGGER policies_immutable BEFORE UPDATE ON policies FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- The models that answered for a policy. More than one at an address: what is behind it changed.
CREATE TABLE models_seen (
    policy_id   uuid NOT NULL REFERENCES policies ON DELETE CASCADE,
    base_url    text NOT NULL,
    model       text NOT NULL,
    fingerprint text NOT NULL,
    first_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (policy_id, base_url, model, fingerprint)
);

CREATE TABLE runs (
    id                 uuid PRIMARY KEY,
    name               text NOT NULL CONSTRAINT runs_name UNIQUE CHECK (name <> ''), -- people name runs by it
    recipe             text NOT NULL CONSTRAINT runs_recipe CHECK (recipe IN ('sft', 'dagger', 'aggrevate')),
    scaffold           text NOT NULL,
    prompts            json COMPRESSION lz4 NOT NULL,
    taskset_id         uuid NOT NULL REFERENCES tasksets,
    instances          json COMPRESSION lz4, -- null: every task that is not held out
    teacher_id         uuid NOT NULL REFERENCES policies,
    beta               json,
    rho                json,
    labels             text NOT NULL CONSTRAINT runs_labels CHECK (labels IN ('beside', 'deferred', 'batch')), -- when the teacher is asked
    max_turns          integer NOT NULL CONSTRAINT runs_max_turns CHECK (max_turns >= 1),
    max_context_tokens integer NOT NULL CONSTRAINT runs_max_context_tokens CHECK (max_context_tokens >= 1),
    wall_clock_seconds integer NOT NULL CONSTRAINT runs_wall_clock_seconds CHECK (wall_clock_seconds >= 1),
    command_seconds    integer NOT NULL CONSTRAINT runs_command_seconds CHECK (command_seconds >= 1),
    verify_seconds     integer NOT NULL CONSTRAINT runs_verify_seconds CHECK (verify_seconds >= 1),
    environment_retries integer NOT NULL CONSTRAINT runs_environment_retries CHECK (environment_retries >= 0),
    seed               bigint NOT NULL,
    -- Scheduling, budget and webhook: all of a run that changes.
    priority           integer NOT NULL DEFAULT 0 CONSTRAINT runs_priority CHECK (priority BETWEEN -1000 AND 1000), -- the highest is claimed first
    quota              integer CONSTRAINT runs_quota CHECK (quota >= 1), -- trajectories that workers hold at a time, at most; null: no bound
    paused             json, -- reason, text and time of a pause; null: it goes on
    budget_tokens      bigint CONSTRAINT runs_budget_tokens CHECK (budget_tokens >= 1), -- null: no bound
    budget_micros      bigint CONSTRAINT runs_budget_cost CHECK (budget_micros >= 1),   -- millionths of the policies' currency
    webhook            json, -- url and the name of a secret; null: the one of all runs, if any
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX runs_page ON runs (created_at DESC, id DESC);
CREATE INDEX runs_taskset ON runs (taskset_id);
CREATE FUNCTION refuse_change_but_scheduling() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    was runs := OLD;
BEGIN
    was.priority := NEW.priority;
    was.quota := NEW.quota;
    was.paused := NEW.paused;
    was.budget_tokens := NEW.budget_tokens;
    was.budget_micros := NEW.budget_micros;
    was.webhook := NEW.webhook;
    IF was::text <> NEW::text THEN
        RAISE EXCEPTION 'runs are immutable' USING ERRCODE = 'check_violation', CONSTRAINT = 'runs_immutable';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER runs_immutable BEFORE UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION refuse_change_but_scheduling();

CREATE TABLE iterations (
    id          uuid PRIMARY KEY,
    run_id      uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    number      integer NOT NULL CHECK (number >= 1),
    kind        text NOT NULL CHECK (kind IN ('collect', 'evaluate')),
    student_id  uuid NOT NULL REFERENCES policies,
    beta        double precision CONSTRAINT iterations_beta CHECK (beta BETWEEN 0 AND 1), -- NaN sorts above 1
    rho         json,
    generations integer NOT NULL CHECK (generations >= 1),
    state       text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')),
    trajectories integer NOT NULL CHECK (trajectories >= 1), -- as it was drawn: of this many lists show some
    open        integer NOT NULL CHECK (open >= 0), -- trajectories that are not terminal yet
    paused      json, -- as of a run
    labelling_since timestamptz, -- when deferred labels began to be asked for
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at    timestamptz,
    CONSTRAINT iterations_number UNIQUE (run_id, kind, number),
    CONSTRAINT iterations_id_kind UNIQUE (id, kind),
    CONSTRAINT iterations_open CHECK ((state = 'running') = (open > 0) AND open <= trajectories),
    CONSTRAINT iterations_ended CHECK ((state = 'running') = (ended_at IS NULL))
) WITH (fillfactor = 20); -- room for the count to change in place
CREATE INDEX iterations_running ON iterations (run_id) WHERE state = 'running'; -- what a claim looks through
-- One that is done runs again when its failed trajectories are retried.
CREATE TRIGGER iterations_step BEFORE UPDATE OF state ON iterations
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state <> 'running' AND (OLD.state, NEW.state) <> ('done', 'running')) EXECUTE FUNCTION refuse_step();


---- create above / drop below ----

DROP TABLE iterations, runs, models_seen, policies, tasks, tasksets, relabel_schema_texts;
DROP FUNCTION refuse_change, refuse_change_but_scheduling, refuse_step;
