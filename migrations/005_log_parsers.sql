-- Matplotlib's and seaborn's logs were read by pytest's parser, which names some of their
-- tests otherwise than data sets do.
ALTER TABLE tasks DISABLE TRIGGER tasks_immutable;
UPDATE tasks SET log_parser = 'matplotlib' WHERE lower(repo) = 'matplotlib/matplotlib' AND log_parser = 'pytest';
UPDATE tasks SET log_parser = 'pytest_v2' WHERE lower(repo) = 'mwaskom/seaborn' AND log_parser = 'pytest';
ALTER TABLE tasks ENABLE TRIGGER tasks_immutable;
