-- What tasks of further data sets need.
ALTER TABLE tasks
    ADD COLUMN expected    json COMPRESSION lz4,                      -- test → status, all that the test command must give; null: the two lists decide
    ADD COLUMN start_patch bytea COMPRESSION lz4 NOT NULL DEFAULT '',  -- makes the start of the base commit, such as a bug that was put in
    ADD COLUMN hidden      json COMPRESSION lz4,                       -- absolute paths that the agent's sandbox does not have; null: none
    ADD COLUMN licence     text NOT NULL DEFAULT '';                   -- of the repository, as the data set names it
