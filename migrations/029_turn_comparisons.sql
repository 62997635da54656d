-- The student turns with a label of done trajectories, by the tools and phases of action and label.
-- They are computed with the failure modes.
CREATE TABLE turn_comparisons (
    trajectory_id uuid NOT NULL REFERENCES trajectories ON DELETE CASCADE,
    student_tool  text NOT NULL, -- of the first call; '' without one
    student_phase text NOT NULL,
    teacher_tool  text NOT NULL,
    teacher_phase text NOT NULL,
    turns         integer NOT NULL CHECK (turns > 0),
    agreed        integer NOT NULL CHECK (agreed BETWEEN 0 AND turns),
    PRIMARY KEY (trajectory_id, student_tool, student_phase, teacher_tool, teacher_phase)
);
