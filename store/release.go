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

// Bounds on how often in a row one fault may occur at one step; the last one fails the
// trajectory. After an outage of the database, pauses double from outagePause up to lastOutage:
// 25 minutes in all.
const (
	mostFaults  = 3
	mostOutages = 10
	outagePause = 10 * time.Second
	lastOutage  = 5 * time.Minute
)

// ReleaseWaiting is Release of a trajectory whose endpoint is down. It adds to the time spent
// waiting at the step, over consecutive attempts. Claims skip down endpoints (SeeEndpoints).
func (s *Store) ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, why string) error {
	return s.take(ctx, f, step{to: relabel.Queued, outcome: "released", reason: "its endpoint is down: " + why, tried: "be released",
		set:  queuedSet + ", waited_step = $4, waited_ms = CASE WHEN waited_step = $4 THEN waited_ms ELSE 0 END + $5",
		args: []any{at.Step, at.For.Milliseconds()}}, nil)
}

// errRepeats means that a fault repeats too often for a release.
var errRepeats = errors.New("the same fault occurred at the same step too often")

// ReleaseFault is Release after a fault that may be transient. again is false, and nothing
// changes, if it is the mostFaults-th fault in a row at this step, or the mostOutages-th for an
// outage of the database.
func (s *Store) ReleaseFault(ctx context.Context, f relabel.Fence, at string, fault error) (again bool, err error) {
	signature, outage := signatureOf(fault)
	most, pause := mostFaults, time.Duration(0)
	if outage {
		most, pause = mostOutages, outagePause
	}
	named := at + ": " + signature
	err = s.take(ctx, f, step{to: relabel.Queued, outcome: "released", reason: "released by its worker after a fault: " + signature, tried: "be released",
		check: func(tx pgx.Tx) error { return checkRepeats(ctx, tx, f, named, most) },
		set: queuedSet + `, fault = $4, faults = CASE WHEN fault = $4 THEN faults + 1 ELSE 1 END,
			claimable_at = clock_timestamp() + least($5::interval * power(2, CASE WHEN fault = $4 THEN least(faults, 20) ELSE 0 END), $6::interval)`,
		args: []any{named, pause, lastOutage}}, nil)
	if errors.Is(err, errRepeats) {
		return false, nil
	}
	return err == nil, err
}

// checkRepeats returns errRepeats if the fault has occurred most-1 times in a row.
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

// signatureOf identifies a fault: by SQLSTATE and constraint of a server's error, else by code
// and message. outage reports whether the database is down.
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
