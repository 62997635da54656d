-- A cache of what source files define and import, by their content: see codeindex. It can be emptied at any time.
CREATE TABLE code_records (
    blob     bytea NOT NULL CHECK (octet_length(blob) IN (20, 32)), -- the id of the content in git
    language text COLLATE "C" NOT NULL,
    version  integer NOT NULL,                                      -- of the parser
    used_on  date NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC')::date, -- the day of the last use
    records  bytea NOT NULL,
    PRIMARY KEY (blob, language, version)
);
CREATE INDEX code_records_used ON code_records (used_on, blob);

---- create above / drop below ----

DROP TABLE code_records;
