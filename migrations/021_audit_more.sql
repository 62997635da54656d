-- Of the refused requests of a caller in an hour the first ones have an entry each. The last of
-- these counts the others, so that nobody can fill the disk with refused requests.
ALTER TABLE audit ADD COLUMN more integer NOT NULL DEFAULT 0 CHECK (more >= 0);
