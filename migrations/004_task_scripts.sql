-- The script that a task's test command is a part of, with what prepares the tests. Empty
-- where the command is all, and for tasks that were imported before scripts were kept.
ALTER TABLE tasks ADD COLUMN eval_script bytea COMPRESSION lz4 NOT NULL DEFAULT '';
