-- What a worker knows of the model endpoints that it asks. Claims pass over work whose
-- endpoints are down. A row that its worker does not refresh runs out.
CREATE TABLE endpoint_sights (
    base_url text NOT NULL, -- without a slash at its end
    worker   text NOT NULL,
    down     text,          -- why the endpoint is taken to be down; null: it answered the worker a moment ago
    since    timestamptz NOT NULL DEFAULT clock_timestamp(), -- when down last changed between null and not null
    until    timestamptz NOT NULL,
    PRIMARY KEY (base_url, worker)
);

-- Waiting for endpoints and faults that repeat, at one step of a trajectory. Any progress
-- names another step, and counting begins anew.
ALTER TABLE trajectories
    ADD COLUMN waited_step text,             -- at which step waited_ms were spent; null: nowhere
    ADD COLUMN waited_ms   bigint NOT NULL DEFAULT 0 CHECK (waited_ms >= 0), -- for an endpoint that was down, over all attempts
    ADD COLUMN fault       text,             -- step and signature of the last fault that gave the trajectory back; null: none
    ADD COLUMN faults      integer NOT NULL DEFAULT 0 CHECK (faults >= 0);   -- how often in a row it was that one

-- Queued trajectories whose rollout is over: they need no executor's endpoint.
CREATE INDEX trajectories_queued_ended ON trajectories (iteration_id, id) WHERE state = 'queued' AND end_reason IS NOT NULL;

ALTER TABLE calls
    ADD COLUMN clamped         text[],  -- what the answer said beyond its bounds and was cut or dropped; null: nothing
    ADD COLUMN prompt_estimate integer, -- tokens that the prompt was taken to have before it was sent; null: not estimated
    ADD COLUMN prompt_by       text;    -- how: tokenizer, usage, bytes; null with prompt_estimate
