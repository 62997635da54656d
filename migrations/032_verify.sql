-- Runs can do without verdicts. A trajectory that is not to be verified is done without one, and
-- is neither failed nor an error of the infrastructure.
ALTER TABLE runs ADD COLUMN verify text NOT NULL DEFAULT 'all'
    CONSTRAINT runs_verify CHECK (verify ~ '^(all|none|sample:[1-9][0-9]{0,5})$');
ALTER TABLE iterations ADD COLUMN verify text NOT NULL DEFAULT 'all'
    CONSTRAINT iterations_verify CHECK (verify ~ '^(all|none|sample:[1-9][0-9]{0,5})$' AND (kind <> 'evaluate' OR verify = 'all'));
ALTER TABLE trajectories
    DROP COLUMN verdict,
    ADD COLUMN skip_verify boolean NOT NULL DEFAULT false;
ALTER TABLE trajectories
    ADD COLUMN verdict text NOT NULL GENERATED ALWAYS AS (CASE WHEN passed THEN 'passed' WHEN NOT passed THEN 'failed'
        WHEN state = 'done' AND skip_verify THEN 'unverified' WHEN state IN ('done', 'failed') THEN 'error' ELSE 'none' END) STORED;
CREATE INDEX trajectories_by_verdict ON trajectories (verdict, created_at DESC, id DESC);
ANALYZE trajectories; -- the statement above wrote every row anew
