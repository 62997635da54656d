-- Whether canaries stood in the run that a verdict rests on. Earlier rows do not say: false.
ALTER TABLE verdicts ADD COLUMN canaries boolean NOT NULL DEFAULT false;
