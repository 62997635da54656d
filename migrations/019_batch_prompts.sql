-- What the prompt of a batch's line was taken to have when the line was written, as calls keep
-- it; NULL where no line was written by a version that estimates.
ALTER TABLE label_batch_items ADD COLUMN prompt_estimate integer,
	ADD COLUMN prompt_by text,
	ADD COLUMN prompt_not_counted text NOT NULL DEFAULT '';
