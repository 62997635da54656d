package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// columns are the state-dependent ones as they must be in each state.
var columns = map[relabel.TrajectoryState]string{
	relabel.Queued:    "owner = NULL, lease_until = NULL, end_reason = NULL, submitted = NULL, patch_bytes = NULL, failure = NULL, failure_detail = NULL, ended_at = NULL",
	relabel.Running:   "owner = 'w', lease_until = now(), end_reason = NULL, submitted = NULL, patch_bytes = NULL, failure = NULL, failure_detail = NULL, ended_at = NULL",
	relabel.Labelling: "owner = 'w', lease_until = now(), end_reason = 'finish', submitted = false, patch_bytes = 0, failure = NULL, failure_detail = NULL, ended_at = NULL",
	relabel.Verifying: "owner = 'w', lease_until = now(), end_reason = 'finish', submitted = false, patch_bytes = 0, failure = NULL, failure_detail = NULL, ended_at = NULL",
	relabel.Done:      "owner = NULL, lease_until = NULL, end_reason = 'finish', submitted = false, patch_bytes = 0, failure = NULL, failure_detail = NULL, ended_at = now()",
	relabel.Failed:    "owner = NULL, lease_until = NULL, end_reason = NULL, submitted = NULL, patch_bytes = NULL, failure = 'internal', failure_detail = '', ended_at = now()",
	relabel.Cancelled: "owner = NULL, lease_until = NULL, end_reason = NULL, submitted = NULL, patch_bytes = NULL, failure = NULL, failure_detail = NULL, ended_at = now()",
}

// violated makes a change in a transaction that is undone, and returns the constraint
// that refused it, "" if none did.
func violated(t testing.TB, s *store.Store, statements ...string) string {
	t.Helper()
	ctx := context.Background()
	err := pgx.BeginFunc(ctx, s.Pool(), func(tx pgx.Tx) error {
		for i, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				if i < len(statements)-1 {
					t.Fatalf("preparing: %s: %v", sql, err)
				}
				return err
			}
		}
		if _, err := tx.Exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
			return err
		}
		return errUndo
	})
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, errUndo):
		return ""
	case errors.As(err, &pg):
		return pg.ConstraintName
	}
	t.Fatal(err)
	return ""
}

var errUndo = errors.New("undo")

func TestTheDatabaseAllowsTheStepsThatTheStateMachineAllows(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	id := storetest.Seed(t, s, 1).Trajectories[0].ID
	for _, was := range relabel.TrajectoryStates {
		for _, next := range relabel.TrajectoryStates {
			refused := violated(t, s,
				"ALTER TABLE trajectories DISABLE TRIGGER trajectories_step",
				fmt.Sprintf("UPDATE trajectories SET attempt = 1, trail = 1, started_at = now(), state = '%s', %s WHERE id = '%s'", was, columns[was], id),
				"ALTER TABLE trajectories ENABLE TRIGGER trajectories_step",
				fmt.Sprintf("UPDATE trajectories SET state = '%s', %s WHERE id = '%s'", next, columns[next], id))
			if was == next {
				continue // no step
			}
			if allowed := refused == ""; allowed != was.CanBecome(next) {
				t.Errorf("%s → %s: the database allows it: %v (%s); CanBecome: %v", was, next, allowed, refused, was.CanBecome(next))
			}
			if refused != "" && refused != "trajectories_step" {
				t.Errorf("%s → %s was refused by %s", was, next, refused)
			}
		}
	}
}

func TestATrajectoryBeginsQueued(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	got := violated(t, s, fmt.Sprintf(`INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors, state, ended_at)
		SELECT gen_random_uuid(), run_id, iteration_id, kind, task_id, 1, executors, 'cancelled', now() FROM trajectories WHERE id = '%s'`, d.Trajectories[0].ID))
	if got != "trajectories_step" {
		t.Errorf("refused by %q", got)
	}
}

func TestColumnsThatBelongToAStateAreThereExactlyThen(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	id := storetest.Seed(t, s, 1).Trajectories[0].ID
	for _, c := range []struct {
		state  relabel.TrajectoryState
		change string
		want   string
	}{
		{relabel.Queued, "owner = 'w', lease_until = now()", "trajectories_owned"},
		{relabel.Queued, "end_reason = 'finish', patch_bytes = 0, submitted = false", ""}, // a rollout that was over
		{relabel.Queued, "turns = 1, labels_pending = 1, ribbon = 's'", ""},
		{relabel.Running, "trail = 0", "trajectories_trail"},
		{relabel.Running, "trail = 2", "trajectories_trail"},
		{relabel.Running, "attempt = 2", ""},
		{relabel.Verifying, "attempt = 2", "trajectories_replayed"},
		{relabel.Running, "owner = NULL, lease_until = NULL", "trajectories_owned"},
		{relabel.Running, "lease_until = NULL", "trajectories_leased"},
		{relabel.Running, "attempt = 0, started_at = NULL", "trajectories_attempted"},
		{relabel.Running, "started_at = NULL", "trajectories_started"},
		{relabel.Running, "end_reason = 'finish', patch_bytes = 0, submitted = false", "trajectories_end_reason"},
		{relabel.Running, "failure = 'internal', failure_detail = ''", "trajectories_failure"},
		{relabel.Running, "ended_at = now()", "trajectories_ended"},
		{relabel.Running, "turns = 7, labels_received = 7, ribbon = 'TaTaTaT'", "trajectories_turns"},
		{relabel.Running, "turns = 2, labels_received = 1", "trajectories_labels"},
		{relabel.Running, "ribbon = 's'", "trajectories_ribbon"},
		{relabel.Labelling, "end_reason = NULL, patch_bytes = NULL, submitted = NULL", "trajectories_end_reason"},
		{relabel.Labelling, "patch_bytes = NULL", "trajectories_submission"},
		{relabel.Labelling, "submitted = true", "trajectories_submitted"},
		{relabel.Labelling, "passed = true, verdict_reason = 'passed', protections = 0", "trajectories_passed"},
		{relabel.Verifying, "turns = 1, labels_pending = 1", "trajectories_pending"},
		{relabel.Verifying, "owner = NULL, lease_until = NULL", "trajectories_owned"},
		{relabel.Done, "owner = 'w', lease_until = now()", "trajectories_owned"},
		{relabel.Done, "ended_at = NULL", "trajectories_ended"},
		{relabel.Failed, "failure = NULL, failure_detail = NULL", "trajectories_failure"},
		{relabel.Cancelled, "failure = 'internal', failure_detail = ''", "trajectories_failure"},
		{relabel.Queued, "executors = 'TsX'", "trajectories_executors_check"},
		{relabel.Queued, "state = 'asleep'", "trajectories_step"},
		{relabel.Labelling, "end_reason = 'boredom'", "trajectories_end_reason_check"},
	} {
		got := violated(t, s,
			"ALTER TABLE trajectories DISABLE TRIGGER trajectories_step",
			fmt.Sprintf("UPDATE trajectories SET attempt = 1, trail = 1, started_at = now(), state = '%s', %s WHERE id = '%s'", c.state, columns[c.state], id),
			"ALTER TABLE trajectories ENABLE TRIGGER trajectories_step",
			fmt.Sprintf("UPDATE trajectories SET %s WHERE id = '%s'", c.change, id))
		if got != c.want {
			t.Errorf("%s with %s: refused by %q, not %q", c.state, c.change, got, c.want)
		}
	}
}

func TestWhatIsOverStaysOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 1, true)
	if got := violated(t, s, "UPDATE iterations SET state = 'cancelled'"); got != "iterations_step" {
		t.Errorf("an iteration that is done is cancelled: refused by %q", got)
	}
	cancelled := storetest.Seed(t, s, 1)
	_, err := s.CancelIteration(ctx, cancelled.Iteration.ID)
	must(t, err)
	if got := violated(t, s, "UPDATE iterations SET state = 'running', open = 1, ended_at = NULL WHERE id = '"+cancelled.Iteration.ID.String()+"'"); got != "iterations_step" {
		t.Errorf("an iteration that was cancelled goes on: refused by %q", got)
	}
	e := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f"}
	must(t, s.CreateExport(ctx, e))
	must(t, s.RunExport(ctx, e.ID))
	if got := violated(t, s, "UPDATE exports SET state = 'queued'"); got != "exports_step" {
		t.Errorf("an export that runs is queued again: refused by %q", got)
	}
	must(t, s.FailExport(ctx, e.ID, "a reason"))
	for _, change := range []string{"state = 'running', failure = NULL, ended_at = NULL", "state = 'done', failure = NULL"} {
		if got := violated(t, s, "UPDATE exports SET "+change); got != "exports_step" {
			t.Errorf("an export that failed: %s: refused by %q", change, got)
		}
	}
}

func TestATrajectoryHasOneOpenAttempt(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	if got := violated(t, s, fmt.Sprintf("INSERT INTO attempts (trajectory_id, number, worker) VALUES ('%s', 2, 'v')", c.TrajectoryID)); got != "attempts_open" {
		t.Errorf("refused by %q", got)
	}
}

func TestWhatARunIsMadeOfNeverChanges(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	storetest.Seed(t, s, 1)
	for table, change := range map[string]string{"policies": "model = 'other'", "tasks": "image = 'other'", "tasksets": "name = 'other'", "runs": "seed = 1"} {
		if got := violated(t, s, "UPDATE "+table+" SET "+change); !strings.HasSuffix(got, "_immutable") {
			t.Errorf("%s: refused by %q", table, got)
		}
	}
}
