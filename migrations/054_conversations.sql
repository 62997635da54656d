-- Conversations that were not collected: sources of labels for mixes.
CREATE TABLE conversation_sets (
    id            uuid PRIMARY KEY,
    name          text NOT NULL CONSTRAINT conversation_sets_name UNIQUE CHECK (name <> ''),
    digest        text NOT NULL,
    conversations integer NOT NULL CHECK (conversations > 0),
    labels        integer NOT NULL CHECK (labels >= 0),
    bytes         bigint NOT NULL CHECK (bytes >= 0),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE conversation_chunks (
    set_id        uuid NOT NULL REFERENCES conversation_sets ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, -- chunks come first
    number        integer NOT NULL CHECK (number >= 0),
    conversations integer NOT NULL CHECK (conversations > 0),
    content       bytea NOT NULL, -- compressed; see package conversations
    PRIMARY KEY (set_id, number)
);
ALTER TABLE conversation_chunks ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE export_sources
    ALTER COLUMN run_id DROP NOT NULL, -- null: conversations
    ADD COLUMN conversation_set_id uuid,
    ADD CONSTRAINT export_sources_one CHECK ((run_id IS NULL) <> (conversation_set_id IS NULL));
CREATE INDEX export_sources_set ON export_sources (conversation_set_id) WHERE conversation_set_id IS NOT NULL;
ALTER TABLE export_parts
    ADD COLUMN chunk integer CHECK (chunk >= 0); -- of the conversations that the part has instead of trajectories

---- create above / drop below ----

ALTER TABLE export_parts DROP COLUMN chunk;
DELETE FROM export_sources WHERE run_id IS NULL;
ALTER TABLE export_sources DROP COLUMN conversation_set_id, ALTER COLUMN run_id SET NOT NULL;
DROP TABLE conversation_chunks, conversation_sets;
