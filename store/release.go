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

// How often in a row a trajectory is given back at one step for one fault. A fault that
// comes once more is not transient. An outage of the database's own says so, and each
// release then waits twice as long, so that it has more than half an hour.
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
	st := step{to: relabel.Queued, outcome: "released", tried: "be given back", args: []any{at.Step, at.For.Milliseconds()},
		sql: requeueUpdate + `, waited_step = $4, waited_ms = CASE WHEN waited_step = $4 THEN waited_ms ELSE 0 END + $5 WHERE` + fenced}
	return s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		return endAttempts(ctx, tx, []relabel.ID{f.TrajectoryID}, "released", legible("its endpoint is down: "+why))
	})
}

// ReleaseFault is Release after a fault at a step that may be transient. again is false,
// and nothing was changed, where the same fault came at the same step so often in a row
// that it is not: mostFaults times, or mostOutages where the database itself was away.
func (s *Store) ReleaseFault(ctx context.Context, f relabel.Fence, at string, fault error) (again bool, err error) {
	signature, outage := signatureOf(fault)
	most, pause := mostFaults, time.Duration(0)
	if outage {
		most, pause = mostOutages, outagePause
	}
	st := step{to: relabel.Queued, outcome: "released", tried: "be given back", args: []any{at + ": " + signature, most, pause, lastOutage},
		sql: requeueUpdate + `, fault = $4, faults = CASE WHEN fault = $4 THEN faults + 1 ELSE 1 END,
			claimable_at = clock_timestamp() + least($6::interval * power(2, CASE WHEN fault = $4 THEN least(faults, 20) ELSE 0 END), $7::interval)
			WHERE` + fenced + `AND (fault IS DISTINCT FROM $4 OR faults < $5 - 1)`}
	err = s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		return endAttempts(ctx, tx, []relabel.ID{f.TrajectoryID}, "released", legible("given back by its worker after a fault: "+signature))
	})
	if relabel.CodeOf(err) == relabel.CodeConflict { // the fence holds: it is the count that does not let it
		return false, nil
	}
	return true, err
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
	return legible(string(relabel.CodeOf(fault)) + ": " + relabel.Shown(fault)), broken(fault)
}
