-- What the scores of a student and of a teacher say about their divergence, summed over the turns of a
-- trajectory that both scored. It follows from scores alone, and is computed when it is first asked for.
CREATE TABLE divergence_sums (
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    teacher_id    uuid NOT NULL CONSTRAINT divergence_sums_teacher REFERENCES policies,
    attempt       integer NOT NULL, -- whose turns
    received      integer NOT NULL, -- scores of the trajectory by any policy when it was computed; with more, it is computed again
    turns         integer NOT NULL CHECK (turns >= 0), -- with scores of both
    tokens        bigint NOT NULL CHECK (tokens >= 0),
    impossible    bigint NOT NULL CHECK (impossible >= 0),
    k1            double precision NOT NULL, -- Σ log πθ − log πe
    k3            double precision NOT NULL,
    top_tokens    bigint NOT NULL CHECK (top_tokens >= 0),
    top           double precision NOT NULL, -- Σ of lower bounds over top_tokens
    PRIMARY KEY (trajectory_id, teacher_id)
);

---- create above / drop below ----

DROP TABLE divergence_sums;
