-- Who changed what, or tried to, when and from where. No secrets, queries or bodies.
CREATE TABLE audit (
    id         uuid PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor      text NOT NULL CHECK (actor IN ('local', 'token', 'session', 'command')),
    token      text NOT NULL DEFAULT '', -- its name then; tokens are never deleted, their names may be used again
    token_id   text NOT NULL DEFAULT '', -- the first 12 hex digits of its SHA-256
    operation  text NOT NULL,
    method     text NOT NULL DEFAULT '',
    path       text NOT NULL DEFAULT '',
    resource   text NOT NULL DEFAULT '',
    address    text NOT NULL DEFAULT '',
    status     integer NOT NULL DEFAULT 0 -- 0: not known, as after a crash
) WITH (fillfactor = 90);
CREATE INDEX audit_age ON audit (created_at, id);
CREATE INDEX audit_resource ON audit (resource, created_at, id);
CREATE INDEX audit_token ON audit (token, created_at, id);
