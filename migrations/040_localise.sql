-- Tasks to localise: a ranked list of functions instead of a patch, graded by gold files and functions
-- with a score instead of tests in a container.
ALTER TABLE tasksets ADD COLUMN kind text NOT NULL DEFAULT 'repair' CHECK (kind IN ('repair', 'localise'));
ALTER TABLE tasks
    ADD COLUMN kind text NOT NULL DEFAULT 'repair' CHECK (kind IN ('repair', 'localise')),
    ADD COLUMN gold_files json COMPRESSION lz4, -- null: none
    ADD COLUMN gold_functions json COMPRESSION lz4;

ALTER TABLE runs
    ADD COLUMN task_kind text NOT NULL DEFAULT 'repair' CHECK (task_kind IN ('repair', 'localise')),
    ADD COLUMN score_depth integer NOT NULL DEFAULT 0 CHECK (score_depth >= 0),
    ADD COLUMN observation_bytes integer NOT NULL DEFAULT 0 CHECK (observation_bytes >= 0),
    ADD COLUMN max_prompt_tokens integer NOT NULL DEFAULT 0 CHECK (max_prompt_tokens >= 0), -- 0: no limit of its own
    ADD COLUMN max_response_tokens integer NOT NULL DEFAULT 0 CHECK (max_response_tokens >= 0);
ALTER TABLE benchmarks
    ADD COLUMN score_depth integer NOT NULL DEFAULT 0 CHECK (score_depth >= 0),
    ADD COLUMN observation_bytes integer NOT NULL DEFAULT 0 CHECK (observation_bytes >= 0),
    ADD COLUMN max_prompt_tokens integer NOT NULL DEFAULT 0 CHECK (max_prompt_tokens >= 0),
    ADD COLUMN max_response_tokens integer NOT NULL DEFAULT 0 CHECK (max_response_tokens >= 0);
DROP INDEX benchmarks_drawn;
CREATE UNIQUE INDEX benchmarks_drawn ON benchmarks (tasks_digest, max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds,
    environment_retries, score_depth, observation_bytes, max_prompt_tokens, max_response_tokens) WHERE name IS NULL;

ALTER TABLE verdicts
    ADD COLUMN score double precision CHECK (score >= 0 AND score <= 1),
    ADD COLUMN hits integer CHECK (hits >= 0),
    ADD COLUMN ranking json COMPRESSION lz4, -- [{name, known, hit}], best first; null: none
    ADD CONSTRAINT verdicts_score CHECK ((score IS NULL) = (hits IS NULL) AND (score IS NULL OR NOT passed AND infra = ''));

ALTER TABLE trajectories
    DROP COLUMN verdict,
    DROP CONSTRAINT trajectories_judged,
    DROP CONSTRAINT trajectories_end_reason_check,
    DROP CONSTRAINT trajectories_cut,
    ADD COLUMN score double precision CHECK (score >= 0 AND score <= 1), -- of the current verdict
    ADD COLUMN hits integer CHECK (hits >= 0);
ALTER TABLE trajectories
    ADD CONSTRAINT trajectories_end_reason_check CHECK (end_reason IN ('finish', 'max_turns', 'context', 'wall_clock', 'no_call', 'disk',
        'sandbox_broken', 'teacher_turns', 'prompt_too_long')),
    ADD CONSTRAINT trajectories_cut CHECK (end_reason NOT IN ('teacher_turns', 'prompt_too_long')
        OR (NOT submitted AND passed IS NULL AND score IS NULL AND (end_reason = 'prompt_too_long' OR kappa IS NOT NULL))),
    ADD CONSTRAINT trajectories_judged CHECK ((passed IS NULL AND score IS NULL) = (verdict_reason IS NULL)),
    ADD CONSTRAINT trajectories_scored CHECK ((score IS NULL) = (hits IS NULL) AND (score IS NULL OR state = 'done' AND passed IS NULL)),
    ADD COLUMN verdict text NOT NULL GENERATED ALWAYS AS (CASE WHEN passed THEN 'passed' WHEN NOT passed THEN 'failed'
        WHEN score IS NOT NULL THEN 'scored'
        WHEN state = 'done' AND end_reason IN ('teacher_turns', 'prompt_too_long') THEN 'cut'
        WHEN state = 'done' AND skip_verify THEN 'unverified' WHEN state IN ('done', 'failed') THEN 'error' ELSE 'none' END) STORED;
CREATE INDEX trajectories_by_verdict ON trajectories (verdict, created_at DESC, id DESC);
ANALYZE trajectories; -- the statement above wrote every row anew

-- Which trajectories an export selects by their score.
ALTER TABLE exports
    ADD COLUMN hit boolean NOT NULL DEFAULT false, -- only those whose answer names a gold location
    ADD COLUMN min_score double precision CHECK (min_score >= 0 AND min_score <= 1); -- null: any
