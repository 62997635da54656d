-- Tasks in a terminal: an instruction and an image; the task's own tests reward the state of the container
-- with a number from 0 to 1, which is the score of the verdict. It has passed if the reward is 1.
ALTER TABLE tasksets
    DROP CONSTRAINT tasksets_kind_check,
    ADD CONSTRAINT tasksets_kind_check CHECK (kind IN ('repair', 'localise', 'terminal'));
ALTER TABLE tasks
    DROP CONSTRAINT tasks_kind_check,
    ADD CONSTRAINT tasks_kind_check CHECK (kind IN ('repair', 'localise', 'terminal')),
    ADD COLUMN terminal json COMPRESSION lz4, -- relabel.TerminalTask
    ADD CONSTRAINT tasks_terminal CHECK ((kind = 'terminal') = (terminal IS NOT NULL));
ALTER TABLE runs
    DROP CONSTRAINT runs_task_kind_check,
    ADD CONSTRAINT runs_task_kind_check CHECK (task_kind IN ('repair', 'localise', 'terminal'));
ALTER TABLE workers
    DROP CONSTRAINT workers_task_kinds_check,
    ADD CONSTRAINT workers_task_kinds_check CHECK (task_kinds <@ '{repair,localise,terminal}'::text[]);

-- The folders of tests and solutions, which several rows of tasks may share.
CREATE TABLE task_archives (
    sha256  text PRIMARY KEY CHECK (length(sha256) = 64), -- of the content, in hex
    content bytea NOT NULL CHECK (octet_length(content) > 0 AND octet_length(content) <= 8388608) -- a tar file, compressed with gzip
);
ALTER TABLE task_archives ALTER COLUMN content SET STORAGE EXTERNAL; -- it is compressed already

ALTER TABLE verdicts
    DROP CONSTRAINT verdicts_score,
    ADD COLUMN altered json COMPRESSION lz4, -- files of the system that differed when the tests ran, 100 at most; null: none
    ADD COLUMN altered_count integer NOT NULL DEFAULT 0 CHECK (altered_count >= 0),
    ADD CONSTRAINT verdicts_score CHECK ((hits IS NULL OR score IS NOT NULL AND NOT passed)
        AND (score IS NULL OR infra = '' AND (hits IS NOT NULL OR passed = (score = 1))));
ALTER TABLE trajectories
    DROP CONSTRAINT trajectories_scored,
    ADD CONSTRAINT trajectories_scored CHECK ((hits IS NULL OR score IS NOT NULL AND passed IS NULL)
        AND (score IS NULL OR state = 'done' AND (hits IS NOT NULL OR passed = (score = 1))));

---- create above / drop below ----

DROP TABLE task_archives;
