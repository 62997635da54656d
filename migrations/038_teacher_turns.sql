-- The label rule teacher_turns:K of an aggrevate run ends a rollout after K turns of the teacher. It is
-- done with an end reason and a verdict of its own: neither submitted nor verified, and no failure.
ALTER TABLE runs
    DROP CONSTRAINT runs_label_rule,
    ADD CONSTRAINT runs_label_rule CHECK (label_rule ~ '^(all|teacher_turns:[1-9][0-9]{0,2}|(every:[1-9][0-9]{0,2}|first_after_parting:[1-9][0-9]{0,2}|uncertain:[0-9]{1,2}(\.[0-9]{1,6})?|after_failure)(\+0\.[0-9]{1,6})?)$'
        AND (recipe = 'aggrevate' OR label_rule !~ '^teacher_turns'));
ALTER TABLE iterations
    DROP CONSTRAINT iterations_label_rule,
    ADD CONSTRAINT iterations_label_rule CHECK (label_rule ~ '^(all|teacher_turns:[1-9][0-9]{0,2}|(every:[1-9][0-9]{0,2}|first_after_parting:[1-9][0-9]{0,2}|uncertain:[0-9]{1,2}(\.[0-9]{1,6})?|after_failure)(\+0\.[0-9]{1,6})?)$'
        AND (kind = 'collect' OR label_rule = 'all') AND (rho IS NOT NULL OR label_rule !~ '^teacher_turns'));
ALTER TABLE trajectories
    DROP COLUMN verdict,
    DROP CONSTRAINT trajectories_end_reason_check,
    ADD CONSTRAINT trajectories_end_reason_check
        CHECK (end_reason IN ('finish', 'max_turns', 'context', 'wall_clock', 'no_call', 'disk', 'sandbox_broken', 'teacher_turns')),
    ADD CONSTRAINT trajectories_cut CHECK (end_reason <> 'teacher_turns' OR (NOT submitted AND passed IS NULL AND kappa IS NOT NULL));
ALTER TABLE trajectories
    ADD COLUMN verdict text NOT NULL GENERATED ALWAYS AS (CASE WHEN passed THEN 'passed' WHEN NOT passed THEN 'failed'
        WHEN state = 'done' AND end_reason = 'teacher_turns' THEN 'cut'
        WHEN state = 'done' AND skip_verify THEN 'unverified' WHEN state IN ('done', 'failed') THEN 'error' ELSE 'none' END) STORED;
CREATE INDEX trajectories_by_verdict ON trajectories (verdict, created_at DESC, id DESC);
ANALYZE trajectories; -- the statement above wrote every row anew
