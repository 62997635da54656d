-- Registered tokenizers: the files of model folders, kept once by the hash of their
-- content, and the names that stand for them.

CREATE TABLE tokenizer_sets (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'), -- of all files, see relabel.TokenizerFiles.Hash
    bytes      bigint NOT NULL CHECK (bytes >= 0),               -- of all files
    files      json NOT NULL, -- a list of name, sha256 and bytes, in the order of names
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE tokenizer_files (
    hash    text NOT NULL REFERENCES tokenizer_sets ON DELETE CASCADE,
    name    text NOT NULL,
    content bytea COMPRESSION lz4 NOT NULL,
    PRIMARY KEY (hash, name)
);

CREATE TABLE tokenizers (
    id         uuid PRIMARY KEY,
    name       text NOT NULL CHECK (name <> '' AND position('@' IN name) = 0), -- name@version names a version
    version    integer NOT NULL CHECK (version >= 1),
    hash       text NOT NULL REFERENCES tokenizer_sets,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT tokenizers_version UNIQUE (name, version)
);
CREATE INDEX tokenizers_page ON tokenizers (created_at DESC, id DESC);
CREATE INDEX tokenizers_by_hash ON tokenizers (hash);

-- policies.tokenizer and chat_template stay what was said: the name or the hash of a
-- registered tokenizer where tokenizer_hash is set, else a path. Older rows have paths.
ALTER TABLE policies
    ADD COLUMN tokenizer_hash text REFERENCES tokenizer_sets, -- null: a path, or nothing was said
    ADD COLUMN template_text  text COMPRESSION lz4 NOT NULL DEFAULT ''; -- '': the tokenizer's own, or chat_template
CREATE INDEX policies_by_tokenizer ON policies (tokenizer_hash) WHERE tokenizer_hash IS NOT NULL;

-- The same hash stands in the form.
ALTER TABLE exports ADD COLUMN tokenizer_hash text REFERENCES tokenizer_sets ON DELETE SET NULL;
CREATE INDEX exports_by_tokenizer ON exports (tokenizer_hash) WHERE tokenizer_hash IS NOT NULL;

---- create above / drop below ----

ALTER TABLE exports DROP COLUMN tokenizer_hash;
ALTER TABLE policies DROP COLUMN tokenizer_hash, DROP COLUMN template_text;
DROP TABLE tokenizers, tokenizer_files, tokenizer_sets;
