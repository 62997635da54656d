-- Iterations in which the student samples alone: no turn has a label, as in an evaluation.
ALTER TABLE iterations DROP CONSTRAINT iterations_kind_check;
ALTER TABLE iterations ADD CONSTRAINT iterations_kind_check CHECK (kind IN ('collect', 'evaluate', 'sample'));
