-- What an export takes and what was checked of it; whose draw an iteration repeats.

ALTER TABLE exports
    ADD COLUMN mixed_rewards boolean NOT NULL DEFAULT false, -- only groups of which some are resolved and some are not
    ADD COLUMN model_check text NOT NULL DEFAULT '' CHECK (model_check IN ('', 'checked', 'not_checked')); -- relabel.ModelCheck
ALTER TABLE iterations
    ADD COLUMN again_id uuid REFERENCES iterations ON DELETE SET NULL; -- the iteration whose tasks were drawn again
CREATE INDEX iterations_again ON iterations (again_id) WHERE again_id IS NOT NULL;

---- create above / drop below ----

ALTER TABLE iterations DROP COLUMN again_id;
ALTER TABLE exports DROP COLUMN mixed_rewards, DROP COLUMN model_check;
