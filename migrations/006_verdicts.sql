-- Passed and resolved are two things. Passed is what the tests found; resolved is
-- submitted and passed. Rows of before are computed again: a patch that passes and was
-- never submitted is not resolved.

ALTER TABLE trajectories RENAME COLUMN resolved TO passed; -- the verdict column follows: it tells what the tests found
ALTER TABLE trajectories RENAME CONSTRAINT trajectories_resolved TO trajectories_passed;
ALTER TABLE trajectories
    ADD COLUMN protections integer CHECK (protections >= 0); -- of the current verdict; null without one
UPDATE trajectories SET protections = CASE WHEN passed IS NOT NULL THEN 0 END,
        verdict_reason = CASE verdict_reason WHEN 'resolved' THEN 'passed' ELSE verdict_reason END
    WHERE passed IS NOT NULL OR verdict_reason = 'resolved';
ALTER TABLE trajectories -- after the update: this writes the table anew
    ADD COLUMN resolved boolean GENERATED ALWAYS AS (CASE WHEN passed IS NOT NULL THEN passed AND submitted END) STORED,
    ADD CONSTRAINT trajectories_protections CHECK ((passed IS NULL) = (protections IS NULL));
CREATE INDEX trajectories_by_resolved ON trajectories (resolved, created_at DESC, id DESC) WHERE resolved IS NOT NULL;

-- A trajectory may have several verdicts: grading it again keeps the earlier ones. The
-- current one is the newest that is no infrastructure error.
ALTER TABLE verdicts RENAME COLUMN resolved TO passed;
UPDATE verdicts SET reason = 'passed' WHERE reason = 'resolved';
ALTER TABLE verdicts
    ADD COLUMN number integer NOT NULL DEFAULT 1 CHECK (number >= 1), -- from 1, of the trajectory's verdicts
    ADD COLUMN protections integer NOT NULL DEFAULT 0 CHECK (protections >= 0), -- version of the verifier's protections; 0: before versions were kept
    ADD COLUMN dropped json COMPRESSION lz4, -- relabel.DroppedPath: parts of the submission that were not graded; null: none
    ADD COLUMN dropped_count integer NOT NULL DEFAULT 0 CHECK (dropped_count >= 0);
UPDATE verdicts v SET number = n.number
    FROM (SELECT trajectory_id, attempt, row_number() OVER (PARTITION BY trajectory_id ORDER BY attempt) AS number FROM verdicts) n
    WHERE (n.trajectory_id, n.attempt) = (v.trajectory_id, v.attempt) AND n.number > 1;
ALTER TABLE verdicts
    DROP CONSTRAINT verdicts_pkey,
    ADD PRIMARY KEY (trajectory_id, number);
CREATE INDEX verdicts_of_attempt ON verdicts (trajectory_id, attempt); -- when a run is deleted

CREATE OR REPLACE FUNCTION webhook_trajectories(iteration uuid) RETURNS json LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT json_build_object('trajectories', (SELECT json_object_agg(x.state, x.n ORDER BY x.state)
            FROM (SELECT state, count(*) AS n FROM trajectories WHERE iteration_id = iteration GROUP BY state) x),
        'turns', sum(turns), 'labels_had', sum(labels_had), 'labels_missing', sum(labels_missing),
        'submitted', count(*) FILTER (WHERE submitted), 'resolved', count(*) FILTER (WHERE resolved),
        'passed_unsubmitted', count(*) FILTER (WHERE passed AND NOT submitted))
    FROM trajectories WHERE iteration_id = iteration
$$;
