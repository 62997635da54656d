-- Which kinds of task a worker can roll out now.
ALTER TABLE workers
    DROP CONSTRAINT workers_rollouts_check,
    ADD CONSTRAINT workers_rollouts_check CHECK (rollouts >= 0), -- 0: only tasks to localise
    ADD COLUMN task_kinds text[] NOT NULL DEFAULT '{repair}' CHECK (task_kinds <@ '{repair,localise}'::text[]),
    ADD COLUMN searches integer NOT NULL DEFAULT 0 CHECK (searches >= 0); -- trajectories of tasks to localise that it rolls out at once
