-- A sample on a benchmark, or on held-out tasks, has a benchmark as evaluations have: no export has its states.
ALTER TABLE iterations DROP CONSTRAINT iterations_evaluated;
ALTER TABLE iterations ADD CONSTRAINT iterations_evaluated
    CHECK (CASE kind WHEN 'evaluate' THEN benchmark_id IS NOT NULL WHEN 'sample' THEN true ELSE benchmark_id IS NULL END) NOT VALID;

---- create above / drop below ----

-- Fails while there is such a sample: an earlier version would export it.
ALTER TABLE iterations DROP CONSTRAINT iterations_evaluated;
ALTER TABLE iterations ADD CONSTRAINT iterations_evaluated CHECK ((kind = 'evaluate') = (benchmark_id IS NOT NULL));
