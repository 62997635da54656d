-- What workers found about the images that tasks need, and the layers of pulled images, so that a layer that
-- images share is counted once.
CREATE TABLE image_checks (
    image         text COLLATE "C" PRIMARY KEY CHECK (image <> ''),
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'present', 'available', 'missing', 'unknown')),
    bytes         bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0), -- on disk if present, compressed if available
    layers        json COMPRESSION lz4,                         -- [{digest, bytes}], the base first; null: unknown
    problem       text NOT NULL DEFAULT '',
    requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_until timestamptz, -- a worker checks it until then
    checked_at    timestamptz,
    CONSTRAINT image_checks_checked CHECK (state = 'pending' OR checked_at IS NOT NULL)
);
CREATE INDEX image_checks_pending ON image_checks (requested_at, image) WHERE state = 'pending';

ALTER TABLE pulled_images ADD COLUMN layers json COMPRESSION lz4; -- null: unknown

---- create above / drop below ----

ALTER TABLE pulled_images DROP COLUMN layers;
DROP TABLE image_checks;
