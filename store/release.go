package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
)

// How often in a row one fault may come at one step: the last of them fails the trajectory.
// Each release after an outage of the database waits twice as long as the one before, from
// outagePause up to lastOutage: 25 minutes in all before the last attempt.
const (
	mostFaults  = 3
	mostOutages = 10
	outagePause = 10 * time.Second
	lastOutage  = 5 * time.Minute
)

// ReleaseWaiting is Release of a trajectory whose endpoint is down: it adds to how long it
// waited at the step, over all attempts in a row. What is down is passed over by claims
// (SeeEndpoints), so that nothing is claimed in vain meanwhile.
func (s *Store) ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, why string) error {
	st := step{to: relabel.Queued, outcome: "released", tried: "be released", args: []any{at.Step, at.For.Milliseconds()},
		sql: requeueUpdate + `, waited_step = $4, waited_ms = CASE WHEN waited_step = $4 THEN waited_ms ELSE 0 END + $5 WHERE` + fenced}
	return s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		return endAttempts(ctx, tx, []relabel.ID{f.TrajectoryID}, "released", validUTF8("its endpoint is down: "+why))
	})
}

// errRepeats refuses the release of a trajectory whose fault repeats.
var errRepeats = errors.New("the same fault occurred at the same step too often")

// ReleaseFault is Release after a fault at a step that may be transient. again is false,
// and nothing was changed, when the fault comes at this step for the mostFaults-th time in a
// row, or for the mostOutages-th time where the database itself was away.
func (s *Store) ReleaseFault(ctx context.Context, f relabel.Fence, at string, fault error) (again bool, err error) {
	signature, outage := signatureOf(fault)
	most, pause := mostFaults, time.Duration(0)
	if outage {
		most, pause = mostOutages, outagePause
	}
	named := at + ": " + signature
	st := step{to: relabel.Queued, outcome: "released", tried: "be released", args: []any{named, pause, lastOutage},
		check: func(tx pgx.Tx) error { return checkRepeats(ctx, tx, f, named, most) },
		sql: requeueUpdate + `, fault = $4, faults = CASE WHEN fault = $4 THEN faults + 1 ELSE 1 END,
			claimable_at = clock_timestamp() + least($5::interval * power(2, CASE WHEN fault = $4 THEN least(faults, 20) ELSE 0 END), $6::interval)
			WHERE` + fenced}
	err = s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		return endAttempts(ctx, tx, []relabel.ID{f.TrajectoryID}, "released", validUTF8("given back by its worker after a fault: "+signature))
	})
	if errors.Is(err, errRepeats) {
		return false, nil
	}
	return err == nil, err
}

// checkRepeats returns errRepeats when the fault has come most-1 times in a row before.
func checkRepeats(ctx context.Context, tx pgx.Tx, f relabel.Fence, fault string, most int) error {
	var repeats bool
	err := tx.QueryRow(ctx, "SELECT fault IS NOT DISTINCT FROM $4 AND faults >= $5 FROM trajectories WHERE"+fenced+"FOR NO KEY UPDATE",
		f.TrajectoryID, f.Attempt, f.Owner, fault, most-1).Scan(&repeats)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err == nil && repeats:
		return errRepeats
	}
	return err
}

// signatureOf tells faults apart: SQLSTATE and constraint of what the server refused, else
// the code and its message. outage says that the server announced, or the line showed, that the
// database is away.
func signatureOf(fault error) (signature string, outage bool) {
	var pg *pgconn.PgError
	switch {
	case errors.As(fault, &pg):
		signature = strings.TrimSpace("SQLSTATE " + pg.Code + " " + pg.ConstraintName)
		return signature, shutDown(pg) || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "58")
	case errors.Is(fault, context.DeadlineExceeded):
		return "no answer within the time limit", false
	}
	return validUTF8(string(relabel.CodeOf(fault)) + ": " + relabel.Shown(fault)), broken(fault)
}
