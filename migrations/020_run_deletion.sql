-- A run is deleted in many transactions. From the first one on it says so, takes no new work,
-- and is deleted to its end whatever happens meanwhile.
ALTER TABLE runs ADD COLUMN deleting_at timestamptz; -- when its deletion began; null: it is kept
CREATE INDEX runs_deleting ON runs (id) WHERE deleting_at IS NOT NULL;

CREATE OR REPLACE FUNCTION refuse_change_but_scheduling() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    was runs := OLD;
BEGIN
    was.priority := NEW.priority;
    was.quota := NEW.quota;
    was.paused := NEW.paused;
    was.budget_tokens := NEW.budget_tokens;
    was.budget_micros := NEW.budget_micros;
    was.webhook := NEW.webhook;
    IF OLD.deleting_at IS NULL THEN
        was.deleting_at := NEW.deleting_at;
    END IF;
    IF was::text <> NEW::text THEN
        RAISE EXCEPTION 'runs are immutable' USING ERRCODE = 'check_violation', CONSTRAINT = 'runs_immutable';
    END IF;
    RETURN NEW;
END $$;

CREATE INDEX idempotency_keys_age ON idempotency_keys (since); -- what is purged
