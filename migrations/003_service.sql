-- What stands around rollouts: exports, events, and the service's own books.

CREATE TABLE exports (
    id         uuid PRIMARY KEY,
    run_id     uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    iteration  integer NOT NULL CHECK (iteration >= 0), -- 0: the latest done one
    aggregated boolean NOT NULL,
    submitted  boolean NOT NULL,
    resolved   boolean NOT NULL,
    end_reasons text[] NOT NULL, -- empty: any
    agreement  text NOT NULL CHECK (agreement IN ('', 'same', 'differs')),
    label_policy_id uuid CONSTRAINT exports_label_policy REFERENCES policies, -- null: the run's teacher
    unfinished boolean NOT NULL, -- iterations that still run too, as far as they are
    leave_out_flags text[] NOT NULL, -- what reviews flagged so; *: with any flag
    form       json NOT NULL, -- views, tokenizer, template, limits: relabel.ExportForm
    state      text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    destination text NOT NULL, -- a bucket's URL; '': the exports' folder named by folder
    folder     text NOT NULL,
    directory  text NOT NULL,
    rows       integer NOT NULL DEFAULT 0 CHECK (rows >= 0),
    left_out   json,
    failure    text,
    prompt_check json, -- relabel.PromptCheck, of one that is done
    waiting    text, -- why it waits, mostly for its destination
    waiting_since timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    CONSTRAINT exports_waiting CHECK ((waiting IS NULL) = (waiting_since IS NULL) AND (waiting IS NULL OR ended_at IS NULL)),
    CONSTRAINT exports_placed CHECK ((destination = '') <> (folder = '')),
    CONSTRAINT exports_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT exports_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
);
CREATE INDEX exports_page ON exports (created_at DESC, id DESC);
CREATE INDEX exports_run ON exports (run_id);
CREATE INDEX exports_open ON exports (id) WHERE state IN ('queued', 'running');
CREATE TRIGGER exports_step BEFORE UPDATE OF state ON exports
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND (OLD.state IN ('done', 'failed', 'cancelled') OR NEW.state = 'queued')) EXECUTE FUNCTION refuse_step();

-- An export is cut into parts that machines build side by side. Each names its
-- trajectories as they were then, so that all parts are of one snapshot or none is built.
CREATE TABLE export_parts (
    export_id    uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
    number       integer NOT NULL CHECK (number >= 0),
    trajectories json NOT NULL, -- relabel.PartTrajectory, in the export's order
    done         boolean NOT NULL DEFAULT false,
    summary      json, -- what the manifest needs to know of it, when it is done
    left_out     bytea COMPRESSION lz4, -- its lines of left_out.jsonl
    PRIMARY KEY (export_id, number),
    CONSTRAINT export_parts_done CHECK (done = (summary IS NOT NULL) AND done = (left_out IS NOT NULL))
);

-- The files of an export: those of its parts as each is finished, the rest at its end.
CREATE TABLE export_files (
    export_id uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
    path      text COLLATE "C" NOT NULL,
    part      integer, -- null: of the whole
    sha256    text NOT NULL,
    bytes     bigint NOT NULL CHECK (bytes >= 0),
    rows      integer NOT NULL CHECK (rows >= 0),
    tokens    bigint NOT NULL CHECK (tokens >= 0),
    supervised_tokens bigint NOT NULL CHECK (supervised_tokens BETWEEN 0 AND tokens),
    PRIMARY KEY (export_id, path),
    CONSTRAINT export_files_part FOREIGN KEY (export_id, part) REFERENCES export_parts ON DELETE CASCADE
);

-- A row for each change of state, written by the change's own transaction. Ids are drawn
-- before their transactions commit, and so become visible out of order: a reader that
-- remembers the last id would skip some. So each event gets a number after it is
-- committed, in batches, one batch at a time (PublishEvents), and readers go by that.
-- Within a batch ids decide: a change that waited for another's lock drew its id later.
-- There are no foreign keys: each event would lock the rows of its run and its iteration
-- (as ever more transactions at once), of which the latter changes with each trajectory
-- that ends. Events go with their run.
CREATE TABLE events (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number        bigint CONSTRAINT events_number UNIQUE CHECK (number > 0),
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    subject       text NOT NULL CHECK (subject IN ('run', 'iteration', 'trajectory', 'export')),
    run_id        uuid NOT NULL,
    iteration_id  uuid,
    trajectory_id uuid,
    export_id     uuid,
    state         text NOT NULL
);
CREATE FUNCTION forget_events() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM events WHERE run_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER runs_events AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION forget_events();
CREATE INDEX events_unpublished ON events (id) WHERE number IS NULL;
CREATE INDEX events_of_run ON events (run_id, number);
CREATE INDEX events_of_iteration ON events (iteration_id, number) WHERE iteration_id IS NOT NULL;
CREATE INDEX events_of_trajectory ON events (trajectory_id, number) WHERE trajectory_id IS NOT NULL;
CREATE INDEX events_of_export ON events (export_id) WHERE export_id IS NOT NULL;

-- The last number that was given; its row's lock lets one batch follow the other.
CREATE TABLE event_numbers (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    last   bigint NOT NULL DEFAULT 0
);
INSERT INTO event_numbers DEFAULT VALUES;

CREATE FUNCTION record_event() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    CASE TG_TABLE_NAME
    WHEN 'runs' THEN
        INSERT INTO events (subject, run_id, state)
        VALUES ('run', NEW.id, CASE WHEN NEW.paused IS NULL THEN 'resumed' ELSE 'paused' END);
    WHEN 'iterations' THEN
        INSERT INTO events (subject, run_id, iteration_id, state) VALUES ('iteration', NEW.run_id, NEW.id, NEW.state);
    WHEN 'trajectories' THEN
        INSERT INTO events (subject, run_id, iteration_id, trajectory_id, state)
        VALUES ('trajectory', NEW.run_id, NEW.iteration_id, NEW.id, NEW.state);
    WHEN 'exports' THEN
        INSERT INTO events (subject, run_id, export_id, state) VALUES ('export', NEW.run_id, NEW.id, NEW.state);
    END CASE;
    RETURN NULL;
END $$;

-- Wakes those who listen for events. Postgres lets transactions that notify commit one
-- at a time in the whole server, so it is done only while somebody listens: listeners
-- share the lock that is tried here, and given back at once.
CREATE FUNCTION announce_events() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    listeners CONSTANT bigint := hashtextextended('listeners of ' || current_schema(), 0);
BEGIN
    IF pg_try_advisory_lock(listeners) THEN
        PERFORM pg_advisory_unlock(listeners);
    ELSE
        PERFORM pg_notify('relabel_events', current_schema());
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER events_announced AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION announce_events();

CREATE TRIGGER runs_paused AFTER UPDATE OF paused ON runs
    FOR EACH ROW WHEN ((OLD.paused IS NULL) <> (NEW.paused IS NULL)) EXECUTE FUNCTION record_event();
CREATE TRIGGER iterations_made AFTER INSERT ON iterations FOR EACH ROW EXECUTE FUNCTION record_event();
CREATE TRIGGER iterations_changed AFTER UPDATE OF state ON iterations
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION record_event();
CREATE TRIGGER trajectories_made AFTER INSERT ON trajectories FOR EACH ROW EXECUTE FUNCTION record_event();
CREATE TRIGGER trajectories_changed AFTER UPDATE OF state ON trajectories
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION record_event();
CREATE TRIGGER exports_made AFTER INSERT ON exports FOR EACH ROW EXECUTE FUNCTION record_event();
CREATE TRIGGER exports_changed AFTER UPDATE OF state ON exports
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION record_event();

-- The processes that roll trajectories out. A row is renewed every few seconds and goes
-- with an orderly stop; leases, not these rows, decide who owns what.
CREATE TABLE workers (
    name         text PRIMARY KEY CHECK (name <> ''), -- the owner of trajectories and the queue's client
    machine      text NOT NULL,
    process      integer NOT NULL,
    docker_hosts text[] NOT NULL,
    rollouts     integer NOT NULL CHECK (rollouts >= 1),
    ahead        integer NOT NULL CHECK (ahead >= 0),
    version      text NOT NULL,
    draining     boolean NOT NULL DEFAULT false,
    activity     json, -- what each of its trajectories does and how endpoints stand, every two seconds
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The one row that tells this database from every other, and where its server is: its
-- sandboxes carry the id, its webhooks the address.
CREATE TABLE instance (
    single  boolean PRIMARY KEY DEFAULT true CHECK (single),
    id      uuid NOT NULL DEFAULT gen_random_uuid(),
    url     text NOT NULL DEFAULT '', -- of the REST interface, as receivers of webhooks reach it
    turn_at timestamptz NOT NULL DEFAULT '-infinity', -- when a worker last began what one does for all
    webhook json -- of runs that have none of their own: url and the name of a secret; null: none
);
INSERT INTO instance DEFAULT VALUES;

-- What is to be told to a webhook: written by the transaction of the change that it
-- tells, with a job that sends it. The id is the same at every try.
CREATE TABLE webhook_deliveries (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    run_id      uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    type        text NOT NULL CHECK (type IN ('iteration.done', 'iteration.cancelled', 'export.done', 'export.failed', 'run.paused')),
    payload     json COMPRESSION lz4 NOT NULL,
    state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    tries       integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    url         text, -- of the last try
    status      integer, -- HTTP status of the last try; 0: no answer came
    answer      bytea COMPRESSION lz4, -- the beginning of its answer, or why there was none
    tried_at    timestamptz,
    next_at     timestamptz, -- of the next try, when one has failed
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at    timestamptz,
    CONSTRAINT webhook_deliveries_tried CHECK ((tries = 0) = (status IS NULL)),
    CONSTRAINT webhook_deliveries_ended CHECK ((state = 'pending') = (ended_at IS NULL))
);
CREATE INDEX webhook_deliveries_page ON webhook_deliveries (run_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (id) WHERE state = 'pending';

CREATE FUNCTION webhook_trajectories(iteration uuid) RETURNS json LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT json_build_object('trajectories', (SELECT json_object_agg(x.state, x.n ORDER BY x.state)
            FROM (SELECT state, count(*) AS n FROM trajectories WHERE iteration_id = iteration GROUP BY state) x),
        'turns', sum(turns), 'labels_had', sum(labels_had), 'labels_missing', sum(labels_missing),
        'submitted', count(*) FILTER (WHERE submitted), 'resolved', count(*) FILTER (WHERE resolved))
    FROM trajectories WHERE iteration_id = iteration
$$;

-- What a webhook is told of a change: the body that is signed and sent.
CREATE FUNCTION webhook_payload(type text, run runs, path text, about text, what json) RETURNS json LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT json_build_object('type', type, 'timestamp', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', json_build_object('url', (SELECT i.url FROM instance i) || path,
            'run', json_build_object('id', run.id, 'name', run.name, 'url', (SELECT i.url FROM instance i) || '/v1/runs/' || run.id), about, what))
$$;

CREATE FUNCTION tell_webhook() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    run      runs;
    kind     text;
    body     json;
    delivery uuid;
BEGIN
    SELECT r.* INTO run FROM runs r WHERE r.id = CASE TG_TABLE_NAME WHEN 'runs' THEN to_jsonb(NEW)->>'id' ELSE to_jsonb(NEW)->>'run_id' END::uuid;
    IF run.webhook IS NULL AND NOT EXISTS (SELECT 1 FROM instance WHERE webhook IS NOT NULL) THEN
        RETURN NULL;
    END IF;
    CASE TG_TABLE_NAME
    WHEN 'iterations' THEN
        kind := 'iteration.' || NEW.state;
        body := webhook_payload(kind, run, '/v1/iterations/' || NEW.id, 'iteration', json_build_object('id', NEW.id, 'number', NEW.number,
            'kind', NEW.kind, 'state', NEW.state, 'student_id', NEW.student_id, 'counts', webhook_trajectories(NEW.id)));
    WHEN 'exports' THEN
        kind := 'export.' || NEW.state;
        body := webhook_payload(kind, run, '/v1/exports/' || NEW.id, 'export', json_build_object('id', NEW.id, 'state', NEW.state,
            'rows', NEW.rows, 'left_out', NEW.left_out, 'failure', NEW.failure));
    WHEN 'runs' THEN
        kind := 'run.paused';
        body := webhook_payload(kind, run, '/v1/runs/' || NEW.id, 'paused', NEW.paused);
    END CASE;
    INSERT INTO webhook_deliveries (run_id, type, payload) VALUES (run.id, kind, body) RETURNING id INTO delivery;
    -- A try more than there are pauses between tries (webhook.Pauses).
    INSERT INTO river_job (kind, queue, args, max_attempts) VALUES ('webhook', 'webhook', jsonb_build_object('delivery_id', delivery), 12);
    RETURN NULL;
END $$;
CREATE TRIGGER iterations_told AFTER UPDATE OF state ON iterations
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND NEW.state <> 'running') EXECUTE FUNCTION tell_webhook();
CREATE TRIGGER exports_told AFTER UPDATE OF state ON exports
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND NEW.state IN ('done', 'failed')) EXECUTE FUNCTION tell_webhook();
CREATE TRIGGER runs_told AFTER UPDATE OF paused ON runs -- not where a person paused it, who knows
    FOR EACH ROW WHEN (OLD.paused IS NULL AND NEW.paused->>'reason' <> 'user') EXECUTE FUNCTION tell_webhook();

-- A job that is to be worked at once is due by this clock, whatever its inserter's says: the
-- queue's own client writes the time of its machine. The trigger is made with the queue's tables.
CREATE FUNCTION due_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.scheduled_at := now();
    RETURN NEW;
END $$;

-- Images that relabel pulled, and may remove again to make room: those of others are not
-- here. engine is what a Docker engine calls itself, whatever the address.
CREATE TABLE pulled_images (
    engine    text NOT NULL CHECK (engine <> ''),
    image     text NOT NULL CHECK (image <> ''),
    id        text NOT NULL, -- what had the name when it was pulled
    bytes     bigint NOT NULL CHECK (bytes >= 0),
    pulled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    used_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (engine, image)
);

CREATE TABLE idempotency_keys (
    key       text PRIMARY KEY,
    route     text NOT NULL,
    body_hash text NOT NULL,
    claim     uuid NOT NULL, -- whose request is the first
    status    integer NOT NULL DEFAULT 0, -- 0 while the first request is at work
    answer    bytea COMPRESSION lz4,
    since     timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE tokens (
    sha256     text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'), -- the secret itself is kept nowhere
    name       text NOT NULL CHECK (name <> ''),
    access     text NOT NULL DEFAULT 'full' CHECK (access IN ('read', 'full')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;

-- Browsers that signed in with a token; a session ends with it.
CREATE TABLE sessions (
    sha256       text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    token_sha256 text NOT NULL REFERENCES tokens,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sessions_age ON sessions (created_at);

-- What people say of trajectories.
CREATE TABLE reviews (
    id            uuid PRIMARY KEY,
    trajectory_id uuid NOT NULL CONSTRAINT reviews_trajectory REFERENCES trajectories ON DELETE CASCADE,
    t             integer CHECK (t >= 1), -- null: about the whole trajectory
    flag          text COLLATE "C" NOT NULL, -- '': a note alone
    note          text COMPRESSION lz4 NOT NULL,
    author        text NOT NULL, -- as given
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    edited_at     timestamptz,
    CONSTRAINT reviews_say CHECK (flag <> '' OR note <> '')
);
CREATE INDEX reviews_page ON reviews (created_at DESC, id DESC);
CREATE INDEX reviews_of_trajectory ON reviews (trajectory_id, created_at DESC, id DESC);
CREATE INDEX reviews_by_flag ON reviews (flag, created_at DESC, id DESC);

---- create above / drop below ----

DROP TRIGGER iterations_told ON iterations;
DROP TRIGGER runs_told ON runs;
DROP TRIGGER exports_told ON exports;
DROP FUNCTION tell_webhook, webhook_payload, webhook_trajectories;
DROP TABLE webhook_deliveries, reviews, instance, sessions, tokens, idempotency_keys, pulled_images, workers;
DROP TRIGGER iterations_made ON iterations;
DROP TRIGGER iterations_changed ON iterations;
DROP TRIGGER trajectories_made ON trajectories;
DROP TRIGGER trajectories_changed ON trajectories;
DROP TRIGGER runs_paused ON runs;
DROP TABLE events, event_numbers, export_files, exports;
DROP FUNCTION record_event, announce_events;
