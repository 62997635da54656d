-- Exports to the Hugging Face Hub are built in an exports' folder and then pushed: they have both.
ALTER TABLE exports DROP CONSTRAINT exports_placed,
    ADD CONSTRAINT exports_placed CHECK (folder <> '' AND (destination = '' OR destination LIKE 'hf://%') OR folder = '' AND destination <> '');

---- create above / drop below ----

ALTER TABLE exports DROP CONSTRAINT exports_placed,
    ADD CONSTRAINT exports_placed CHECK ((destination = '') <> (folder = '')) NOT VALID;
