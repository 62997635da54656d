-- Functions that a run to localise located, as hints for a run to repair. They are copies: a prompt never changes.
CREATE TABLE run_hints (
    run_id            uuid PRIMARY KEY REFERENCES runs ON DELETE CASCADE, -- the run that gives them
    from_run_id       uuid NOT NULL,                                      -- may be deleted
    from_run          text NOT NULL,                                      -- its name
    from_iteration_id uuid NOT NULL,
    evaluation        integer NOT NULL CHECK (evaluation > 0),            -- number of that iteration
    top               integer NOT NULL CHECK (top > 0),                   -- entries of an answer at most
    instances         integer NOT NULL CHECK (instances >= 0),            -- of that iteration
    answers           integer NOT NULL CHECK (answers >= 0),              -- of these, with an answer
    tasks             integer NOT NULL CHECK (tasks >= 0)                 -- of the run's task set that have hints
);

-- The answers, with what they are compared with tasks by.
CREATE TABLE hint_answers (
    run_id       uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    instance_id  text COLLATE "C" NOT NULL,
    instance_key text COLLATE "C" NOT NULL,
    repo_key     text COLLATE "C" NOT NULL,
    commit_key   text COLLATE "C" NOT NULL,
    functions    text[] NOT NULL, -- best first; empty: no answer
    PRIMARY KEY (run_id, instance_id)
);

-- The hints of the tasks that iterations of the run have drawn.
CREATE TABLE task_hints (
    run_id    uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    task_id   uuid NOT NULL REFERENCES tasks,
    functions text[] NOT NULL CHECK (functions <> '{}'),
    PRIMARY KEY (run_id, task_id)
);

---- create above / drop below ----

DROP TABLE task_hints, hint_answers, run_hints;
