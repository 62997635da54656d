-- Exports that mix labels of several sources.
ALTER TABLE exports
    ADD COLUMN mix json,                                    -- relabel.Mix; null: the labels of the run alone
    ADD COLUMN comparing boolean NOT NULL DEFAULT false,    -- its labels are to be compared before its parts are built
    ADD COLUMN compared json;                               -- relabel.ComparedLabels of each source, once they are compared
CREATE TABLE export_sources ( -- the runs of a mix besides the export's own
    export_id uuid NOT NULL REFERENCES exports ON DELETE CASCADE,
    number    integer NOT NULL CHECK (number >= 1),
    run_id    uuid NOT NULL, -- no reference: an export that is done outlives these runs
    PRIMARY KEY (export_id, number)
);
CREATE INDEX export_sources_run ON export_sources (run_id);
ALTER TABLE export_parts
    ADD COLUMN source integer NOT NULL DEFAULT 0 CHECK (source >= 0), -- of its trajectories; 0: the export's own run
    ADD COLUMN signatures bytea COMPRESSION lz4,                      -- of its labels, to be compared with those of other parts
    ADD COLUMN dropped json COMPRESSION lz4;                          -- relabel.DroppedLabel: what the comparison excludes

---- create above / drop below ----

ALTER TABLE export_parts DROP COLUMN source, DROP COLUMN signatures, DROP COLUMN dropped;
DROP TABLE export_sources;
ALTER TABLE exports DROP COLUMN mix, DROP COLUMN comparing, DROP COLUMN compared;
