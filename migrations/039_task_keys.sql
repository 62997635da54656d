-- What benchmarks compare of tasks, so that other spellings name the same task: instance ids and commits in any
-- case, and repositories without a host, the form of an address, or .git.
ALTER TABLE tasks
    ADD COLUMN instance_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(btrim(instance_id))) STORED,
    ADD COLUMN repo_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (regexp_replace(regexp_replace(lower(repo COLLATE "C"),
        '^\s*([a-z][a-z0-9+.-]*://[^/]*/|[^/:]*:|[^/:]*\.[^/:]*/+(?=[^/]+/+[^/]))?/*', ''), '(\.git|/|\s)+$', '')) STORED,
    ADD COLUMN commit_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(btrim(base_commit COLLATE "C"))) STORED;
CREATE INDEX tasks_instance_key ON tasks (instance_key);
CREATE INDEX tasks_commit_key ON tasks (left(repo_key, 200), left(commit_key, 7)) WHERE repo_key <> '' AND commit_key <> '';

---- create above / drop below ----

DROP INDEX tasks_instance_key, tasks_commit_key;
ALTER TABLE tasks DROP COLUMN instance_key, DROP COLUMN repo_key, DROP COLUMN commit_key;
