-- The digest of an image's manifest, as the worker found it that checked the image.
ALTER TABLE image_checks ADD COLUMN digest text NOT NULL DEFAULT ''; -- '': not known

---- create above / drop below ----

ALTER TABLE image_checks DROP COLUMN digest;
