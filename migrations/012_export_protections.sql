-- Which verdicts an export accepts.

ALTER TABLE exports
    ADD COLUMN verdict_protections integer NOT NULL DEFAULT 0 CHECK (verdict_protections >= 0); -- only verdicts of this version of the protections or a newer one; 0: any
