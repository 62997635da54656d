package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// unclassifiedPage is the number of turns that are read at once to compute a mode.
const unclassifiedPage = 200

// longestClassification bounds a computation between two reads of turns. It holds one row.
const longestClassification = "5min"

// ClassifyNext computes the failure mode of the trajectory that is done for longest among those
// without one by the current rules and for the current verdict. start receives what is stored of
// it; turns are then passed to each in order, and finish returns the finding. It returns the
// trajectory, with an error too; the zero id if there was none besides those of except. Concurrent
// calls take different trajectories, and a new verdict waits.
func (s *Store) ClassifyNext(ctx context.Context, except []relabel.ID, classify func(e relabel.FailureEvidence, eachTurn func(func(relabel.Turn)) error) (relabel.FailureFinding, error)) (id relabel.ID, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// Postgres would end the session of a long computation, which would then begin again without end.
		if _, err := tx.Exec(ctx, "SET LOCAL "+idleTimeout+" = '"+longestClassification+"'"); err != nil {
			return err
		}
		next, err := readValue[relabel.ID](ctx, tx, `SELECT id FROM trajectories WHERE state = 'done' AND failure_rules < $1 AND id <> ALL ($2::uuid[])
			ORDER BY failure_rules, ended_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`, relabel.FailureRules, append([]relabel.ID{}, except...))
		if errors.Is(err, pgx.ErrNoRows) {
			id = relabel.ID{}
			return nil
		}
		if err != nil {
			return err
		}
		id = next
		e, err := readEvidence(ctx, tx, id)
		if err != nil {
			return err
		}
		finding, err := classify(e, func(each func(relabel.Turn)) error { return eachTurn(ctx, tx, e.Trajectory, each) })
		if err != nil {
			return err
		}
		return writeFinding(ctx, tx, id, finding)
	})
	return id, err
}

// readEvidence reads a done trajectory with its patches and current verdict.
func readEvidence(ctx context.Context, tx pgx.Tx, id relabel.ID) (e relabel.FailureEvidence, err error) {
	if e.Trajectory, err = readOne[relabel.Trajectory](ctx, tx, trajectorySelect+" WHERE tr.id = $1", id); err != nil {
		return e, err
	}
	b := &pgx.Batch{}
	readInto(b, &e.Patch, pgx.RowTo[[]byte], "SELECT (SELECT patch FROM patches WHERE trajectory_id = $1)", id)
	var gold []byte
	readInto(b, &gold, pgx.RowTo[[]byte], "SELECT patch FROM tasks WHERE id = $1", e.Trajectory.TaskID)
	readInto(b, &e.Kind, pgx.RowTo[relabel.TaskKind], "SELECT kind FROM tasks WHERE id = $1", e.Trajectory.TaskID)
	var verdicts []relabel.Verdict
	queueRead(b, &verdicts, pgx.RowToStructByName[relabel.Verdict], verdictSelect+" WHERE v.trajectory_id = $1 AND v.infra = '' ORDER BY v.number DESC LIMIT 1", id)
	err = tx.SendBatch(ctx, b).Close()
	e.GoldPatch = string(gold)
	if len(verdicts) > 0 {
		e.Verdict = &verdicts[0]
	}
	return e, err
}

// eachTurn passes the turns of a trajectory to each, in order, some at a time.
func eachTurn(ctx context.Context, tx pgx.Tx, tr relabel.Trajectory, each func(relabel.Turn)) error {
	for from := 1; from <= tr.Turns; {
		to, err := turnsWithin(ctx, tx, tr.ID, tr.Trail, from, from+unclassifiedPage)
		if err != nil {
			return err
		}
		turns, err := readTurns(ctx, tx, tr.ID, tr.Trail, from, to)
		if err != nil {
			return err
		}
		for _, turn := range turns {
			each(turn)
		}
		from = to
	}
	return nil
}

func writeFinding(ctx context.Context, tx pgx.Tx, id relabel.ID, f relabel.FailureFinding) error {
	b := &pgx.Batch{}
	b.Queue("UPDATE trajectories SET failure_mode = nullif($2, ''), tool_use_error = $3, failure_rules = $4 WHERE id = $1", id, f.Mode, f.ToolUseError, f.Rules)
	b.Queue(`INSERT INTO failure_findings (trajectory_id, reason, turns, tool_turns) VALUES ($1, $2, $3, $4)
		ON CONFLICT (trajectory_id) DO UPDATE SET (reason, turns, tool_turns) = (EXCLUDED.reason, EXCLUDED.turns, EXCLUDED.tool_turns)`,
		id, validUTF8(f.Reason), f.Turns, f.ToolTurns)
	b.Queue("DELETE FROM turn_comparisons WHERE trajectory_id = $1", id)
	for _, c := range f.Comparisons {
		b.Queue(`INSERT INTO turn_comparisons (trajectory_id, student_tool, student_phase, teacher_tool, teacher_phase, turns, agreed)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, id, validUTF8(c.StudentTool), c.StudentPhase, validUTF8(c.TeacherTool), c.TeacherPhase, c.Turns, c.Agreed)
	}
	return tx.SendBatch(ctx, b).Close()
}

// FindFailure returns what the rules found in a trajectory. CodeNotFound before it was computed for
// the current verdict.
func (s *Store) FindFailure(ctx context.Context, trajectory relabel.ID) (relabel.FailureFinding, error) {
	return find[relabel.FailureFinding](ctx, s, "failure mode of trajectory", trajectory,
		`SELECT coalesce(tr.failure_mode, '') AS mode, ff.reason, ff.turns, tr.tool_use_error, ff.tool_turns, tr.failure_rules AS rules
		FROM trajectories tr JOIN failure_findings ff ON ff.trajectory_id = tr.id WHERE tr.id = $1 AND tr.failure_rules > 0`, trajectory)
}

// ListFailureTallies counts a run's done trajectories by iteration, task and mode; none if there is
// no such run, or its tasks are to localise: answers to these have a score and no mode.
func (s *Store) ListFailureTallies(ctx context.Context, run relabel.ID) ([]relabel.FailureTally, error) {
	return listAll[relabel.FailureTally](ctx, s, `SELECT iteration_id, task_id, submitted, resolved, verdict = 'unverified' AS unverified, verdict = 'cut' AS cut, coalesce(failure_mode, '') AS mode,
		coalesce(tool_use_error, false) AS tool_use_error, failure_rules >= $2 AS classified, count(*) AS count
		FROM trajectories tr WHERE run_id = $1 AND state = 'done' AND EXISTS (SELECT FROM runs ru WHERE ru.id = tr.run_id AND ru.task_kind = 'repair')
		GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY 1, 2`, run, relabel.FailureRules)
}

// ListComparisons counts the student turns with a label of a run's done trajectories by iteration,
// task, tools and phases; none if there is no such run.
func (s *Store) ListComparisons(ctx context.Context, run relabel.ID) ([]relabel.ComparisonTally, error) {
	return listAll[relabel.ComparisonTally](ctx, s, `SELECT tr.iteration_id, tr.task_id, tc.student_tool, tc.student_phase, tc.teacher_tool, tc.teacher_phase,
		sum(tc.turns)::integer AS turns, sum(tc.agreed)::integer AS agreed
		FROM trajectories tr JOIN turn_comparisons tc ON tc.trajectory_id = tr.id WHERE tr.run_id = $1 AND tr.state = 'done'
		GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`, run)
}
