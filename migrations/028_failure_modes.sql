-- The primary failure mode of done trajectories, computed by the rules of version failure_rules; 0:
-- not computed yet, or the verdict has changed since.
ALTER TABLE trajectories
    ADD COLUMN failure_mode text,
    ADD COLUMN tool_use_error boolean,
    ADD COLUMN failure_rules integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT trajectories_failure_mode CHECK (failure_mode IS NULL OR state = 'done' AND CASE WHEN submitted
        THEN failure_mode IN ('syntax_or_runtime', 'wrong_file', 'wrong_solution') AND NOT resolved
        ELSE failure_mode IN ('loop', 'overflow', 'budget', 'no_edit', 'other') END);

CREATE INDEX trajectories_unclassified ON trajectories (failure_rules, ended_at) WHERE state = 'done';
CREATE INDEX trajectories_by_failure_mode ON trajectories (failure_mode, created_at DESC, id DESC) WHERE failure_mode IS NOT NULL;
CREATE INDEX trajectories_by_tool_use_error ON trajectories (tool_use_error, created_at DESC, id DESC) WHERE tool_use_error IS NOT NULL;

-- What the modes were concluded from.
CREATE TABLE failure_findings (
    trajectory_id uuid PRIMARY KEY REFERENCES trajectories ON DELETE CASCADE,
    reason        text NOT NULL, -- '' without a mode
    turns         integer[] NOT NULL, -- that show the mode
    tool_turns    integer[] NOT NULL  -- with a tool-use error
);
