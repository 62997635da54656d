-- What policy versions were trained on, and how many trajectories an export has rows of.
ALTER TABLE exports ADD COLUMN trajectories integer CHECK (trajectories >= 0); -- null: not done, or of a version that did not count them
UPDATE exports ex SET trajectories = n.trajectories
    FROM (SELECT export_id, sum((summary->'trajectories'->>'count')::integer) AS trajectories FROM export_parts
        GROUP BY export_id HAVING bool_and(coalesce(summary->'trajectories'->>'count', '') <> '')) n
    WHERE ex.id = n.export_id AND ex.state = 'done';

ALTER TABLE policies
    ADD COLUMN trained_from uuid CONSTRAINT policies_trained_from REFERENCES policies CONSTRAINT policies_own_parent CHECK (trained_from <> id), -- null: no registered policy
    ADD COLUMN untrained boolean NOT NULL DEFAULT false
        CONSTRAINT policies_untrained CHECK (NOT untrained OR trained_from IS NULL);

-- The exports that a policy version was trained on. A row keeps what the export had, so that its
-- deletion loses nothing.
CREATE TABLE policy_training (
    policy_id       uuid NOT NULL REFERENCES policies,
    position        integer NOT NULL CHECK (position >= 0), -- in the order of the request
    export_id       uuid NOT NULL,
    stored_export   uuid CONSTRAINT policy_training_export REFERENCES exports ON DELETE SET NULL, -- export_id; null: deleted since
    run_name        text NOT NULL, -- of the export's run
    epochs          double precision NOT NULL CHECK (epochs > 0 AND epochs < 'infinity'),
    epochs_from     text NOT NULL CHECK (epochs_from IN ('given', 'trainer')),
    trajectories    integer NOT NULL CHECK (trajectories >= 0),
    states          integer NOT NULL CHECK (states >= 0),
    manifest_sha256 text NOT NULL,
    PRIMARY KEY (policy_id, position),
    CONSTRAINT policy_training_once UNIQUE (policy_id, export_id),
    CONSTRAINT policy_training_stored CHECK (stored_export = export_id)
);
CREATE INDEX policy_training_by_export ON policy_training (stored_export) WHERE stored_export IS NOT NULL;
CREATE TRIGGER policy_training_immutable BEFORE UPDATE OF policy_id, position, export_id, run_name, epochs, epochs_from, trajectories, states, manifest_sha256
    ON policy_training FOR EACH ROW EXECUTE FUNCTION refuse_change();
