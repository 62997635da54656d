-- Ends of a rollout that are the agent's doing in its sandbox, and the action in the course of
-- which a sandbox broke: a fresh sandbox in which it is executed again tells whose doing that was.

ALTER TABLE trajectories DROP CONSTRAINT trajectories_end_reason_check;
ALTER TABLE trajectories ADD CONSTRAINT trajectories_end_reason_check
    CHECK (end_reason IN ('finish', 'max_turns', 'context', 'wall_clock', 'no_call', 'disk', 'sandbox_broken'));

ALTER TABLE attempts
    ADD COLUMN broke_at integer CHECK (broke_at >= 1), -- the turn whose action was executed when the sandbox broke
    ADD COLUMN broken bytea COMPRESSION lz4,           -- that action (JSON)
    ADD CONSTRAINT attempts_broken CHECK ((broke_at IS NULL) = (broken IS NULL));
