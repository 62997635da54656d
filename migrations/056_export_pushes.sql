-- Pushes of finished exports to the Hugging Face Hub.
CREATE TABLE export_pushes (
    export_id     uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
    number        integer NOT NULL CHECK (number >= 1),
    destination   text NOT NULL CHECK (destination LIKE 'hf://%'),
    allow_secrets text[], -- rules of secrets that the text may have; null: none
    state         text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    sent_bytes    bigint NOT NULL DEFAULT 0 CHECK (sent_bytes >= 0),
    bytes         bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0), -- of all files; 0: not counted yet
    place         text, -- where it is, with the commit
    failure       text,
    waiting       text,
    waiting_since timestamptz,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at      timestamptz,
    PRIMARY KEY (export_id, number),
    CONSTRAINT export_pushes_waiting CHECK ((waiting IS NULL) = (waiting_since IS NULL) AND (waiting IS NULL OR ended_at IS NULL)),
    CONSTRAINT export_pushes_place CHECK ((state = 'done') = (place IS NOT NULL)),
    CONSTRAINT export_pushes_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT export_pushes_ended CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX export_pushes_open ON export_pushes (export_id) WHERE state IN ('queued', 'running');

-- Followers of the export read it again.
CREATE FUNCTION record_push() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO events (subject, run_id, export_id, state) SELECT 'export', run_id, id, state FROM exports WHERE id = NEW.export_id;
    RETURN NULL;
END $$;
CREATE TRIGGER export_pushes_made AFTER INSERT ON export_pushes FOR EACH ROW EXECUTE FUNCTION record_push();
CREATE TRIGGER export_pushes_changed AFTER UPDATE ON export_pushes
    FOR EACH ROW WHEN (OLD.state <> NEW.state OR OLD.waiting IS DISTINCT FROM NEW.waiting
        OR 10 * OLD.sent_bytes / greatest(OLD.bytes, 1) <> 10 * NEW.sent_bytes / greatest(NEW.bytes, 1)) EXECUTE FUNCTION record_push();

---- create above / drop below ----

DROP TABLE export_pushes;
DROP FUNCTION record_push;
