-- Queued trajectories whose rollout is not over: what a claim takes while a teacher that only
-- labels is down, without reading those that wait for its labels.
CREATE INDEX trajectories_queued_rolling ON trajectories (iteration_id, id) WHERE state = 'queued' AND end_reason IS NULL;
