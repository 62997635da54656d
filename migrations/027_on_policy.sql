-- Runs that train on the student's own actions. Only one of grpo can do without a teacher.
ALTER TABLE runs DROP CONSTRAINT runs_recipe, ALTER COLUMN teacher_id DROP NOT NULL;
ALTER TABLE runs
    ADD CONSTRAINT runs_recipe CHECK (recipe IN ('sft', 'dagger', 'aggrevate', 'opd', 'grpo')),
    ADD CONSTRAINT runs_teacher CHECK (teacher_id IS NOT NULL OR recipe = 'grpo');
