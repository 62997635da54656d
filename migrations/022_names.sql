-- Names that the REST interface, the commands and the viewer use too: a label is pending until it
-- is received or missing, exports exclude states, and workers prefetch sandboxes.

ALTER TABLE runs DROP CONSTRAINT runs_labels;
ALTER TABLE runs DISABLE TRIGGER runs_immutable;
UPDATE runs SET labels = 'inline' WHERE labels = 'beside';
ALTER TABLE runs ENABLE TRIGGER runs_immutable;
ALTER TABLE runs ADD CONSTRAINT runs_labels CHECK (labels IN ('inline', 'deferred', 'batch'));

DROP INDEX actions_owed;
ALTER TABLE actions DROP CONSTRAINT actions_status_check, DROP CONSTRAINT actions_had, DROP CONSTRAINT actions_said;
UPDATE actions SET status = CASE status WHEN 'had' THEN 'received' ELSE 'pending' END WHERE status <> 'missing';
ALTER TABLE actions
    ADD CONSTRAINT actions_status_check CHECK (status IN ('pending', 'received', 'missing')),
    ADD CONSTRAINT actions_received CHECK ((status = 'received') = (raw IS NOT NULL)),
    ADD CONSTRAINT actions_said CHECK (said IS NULL OR status = 'received');
CREATE INDEX actions_pending ON actions (trajectory_id, attempt, t) WHERE status = 'pending'; -- the label queue

ALTER TABLE label_batch_items DROP CONSTRAINT label_batch_items_status_check;
UPDATE label_batch_items SET status = 'received' WHERE status = 'had';
ALTER TABLE label_batch_items ADD CONSTRAINT label_batch_items_status_check CHECK (status IN ('asked', 'received', 'missing', 'returned'));

ALTER TABLE trajectories RENAME COLUMN labels_had TO labels_received;
ALTER TABLE trajectories RENAME COLUMN labels_owed TO labels_pending;
ALTER TABLE trajectories RENAME CONSTRAINT trajectories_owed TO trajectories_pending;
ALTER TABLE relabelings RENAME COLUMN had TO received;
ALTER TABLE relabelings RENAME COLUMN owed TO pending;

ALTER TABLE exports RENAME COLUMN left_out TO excluded;
ALTER TABLE exports RENAME COLUMN leave_out_flags TO exclude_flags;
ALTER TABLE export_parts RENAME COLUMN left_out TO excluded;
-- In a text of JSON, a quote before a colon ends a key: no other text of it is like this.
UPDATE export_parts SET summary = replace(summary::text, '"left_out":', '"excluded":')::json WHERE summary IS NOT NULL;

ALTER TABLE workers RENAME COLUMN ahead TO prefetch;

CREATE OR REPLACE FUNCTION webhook_trajectories(iteration uuid) RETURNS json LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT json_build_object('trajectories', (SELECT json_object_agg(x.state, x.n ORDER BY x.state)
            FROM (SELECT state, count(*) AS n FROM trajectories WHERE iteration_id = iteration GROUP BY state) x),
        'turns', sum(turns), 'labels_received', sum(labels_received), 'labels_missing', sum(labels_missing),
        'submitted', count(*) FILTER (WHERE submitted), 'resolved', count(*) FILTER (WHERE resolved),
        'passed_unsubmitted', count(*) FILTER (WHERE passed AND NOT submitted))
    FROM trajectories WHERE iteration_id = iteration
$$;

CREATE OR REPLACE FUNCTION tell_webhook() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
            'rows', NEW.rows, 'excluded', NEW.excluded, 'failure', NEW.failure));
    WHEN 'runs' THEN
        kind := 'run.paused';
        body := webhook_payload(kind, run, '/v1/runs/' || NEW.id, 'paused', NEW.paused);
    END CASE;
    INSERT INTO webhook_deliveries (run_id, type, payload) VALUES (run.id, kind, body) RETURNING id INTO delivery;
    -- A try more than there are pauses between tries (webhook.Pauses).
    INSERT INTO river_job (kind, queue, args, max_attempts) VALUES ('webhook', 'webhook', jsonb_build_object('delivery_id', delivery), 12);
    RETURN NULL;
END $$;
