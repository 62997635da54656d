-- Which kinds of task a worker can roll out now.
ALTER TABLE workers
    ADD COLUMN task_kinds text[] NOT NULL DEFAULT '{repair}' CHECK (task_kinds <@ '{repair,localise}'::text[]),
    ADD COLUMN searches integer NOT NULL DEFAULT 0 CHECK (searches >= 0); -- trajectories of tasks to localise that it rolls out at once
