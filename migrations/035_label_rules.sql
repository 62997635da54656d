-- A label rule says at which states the teacher is asked. A label that was not requested has a row of
-- its own with the status not_selected, so that every turn of a collect iteration still has one label.
ALTER TABLE runs ADD COLUMN label_rule text NOT NULL DEFAULT 'all'
    CONSTRAINT runs_label_rule CHECK (label_rule ~ '^(all|(every:[1-9][0-9]{0,2}|first_after_parting:[1-9][0-9]{0,2}|uncertain:[0-9]{1,2}(\.[0-9]{1,6})?|after_failure)(\+0\.[0-9]{1,6})?)$');
ALTER TABLE iterations ADD COLUMN label_rule text NOT NULL DEFAULT 'all'
    CONSTRAINT iterations_label_rule CHECK (label_rule ~ '^(all|(every:[1-9][0-9]{0,2}|first_after_parting:[1-9][0-9]{0,2}|uncertain:[0-9]{1,2}(\.[0-9]{1,6})?|after_failure)(\+0\.[0-9]{1,6})?)$'
        AND (kind = 'collect' OR label_rule = 'all'));
ALTER TABLE actions
    DROP CONSTRAINT actions_status_check,
    ADD CONSTRAINT actions_status_check CHECK (status IN ('pending', 'received', 'missing', 'not_selected'));
-- The probability with which the rule asks at the state; null: 1.
ALTER TABLE turns ADD COLUMN label_chance double precision
    CONSTRAINT turns_label_chance CHECK (label_chance >= 0 AND label_chance <= 1 AND (label_chance = 1 OR executor = 'student'));
ALTER TABLE trajectories
    ADD COLUMN labels_not_selected integer NOT NULL DEFAULT 0 CHECK (labels_not_selected >= 0),
    DROP CONSTRAINT trajectories_labels,
    ADD CONSTRAINT trajectories_labels CHECK (labels_received + labels_pending + labels_missing + labels_not_selected = CASE kind WHEN 'collect' THEN turns ELSE 0 END);
