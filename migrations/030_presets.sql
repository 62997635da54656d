-- How the iterations of a run draw their tasks, their defaults, and the experiment of the paper that
-- gave them. Null: not given, as in all earlier runs.
ALTER TABLE runs
    ADD COLUMN draw            text NOT NULL DEFAULT 'anew' CONSTRAINT runs_draw CHECK (draw IN ('anew', 'permutation')),
    ADD COLUMN tasks_per_round integer CONSTRAINT runs_tasks_per_round CHECK (tasks_per_round >= 1), -- null: all tasks
    ADD COLUMN generations     integer CONSTRAINT runs_generations CHECK (generations >= 1),         -- null: 1
    ADD COLUMN rounds          integer CONSTRAINT runs_rounds CHECK (rounds >= 1),                   -- null: not planned
    ADD COLUMN preset          text CONSTRAINT runs_preset CHECK (preset <> ''),
    ADD COLUMN trainer         json; -- configuration of the training after each round

-- The place of an iteration in the permutations of its run's tasks: permutation, restarted, drawn, of.
-- Null: its tasks were drawn anew or named.
ALTER TABLE iterations ADD COLUMN walk json;
