package main

import (
	"context"
	"time"

	"relabel"
	"relabel/mixer"
	"relabel/worker/tracing"
)

// observe counts and traces what rollouts do.
func (w *work) observe() mixer.Observe {
	m := w.metrics
	return mixer.Observe{
		Started: m.Started, Settled: m.Labelled, Replayed: m.Replayed, Broke: m.Failed,
		Committed: func(c relabel.Claim, turn relabel.Turn, took time.Duration) {
			m.Committed(turn, took)
			w.traces.Turn(c, turn)
		},
		Ended: func(e mixer.AttemptEnd) {
			m.Ended(e.Spent)
			w.traces.Attempt(tracing.Attempt(e))
		},
	}
}

// traced traces the start of sandboxes, and verifications.
func (w *work) traced(e mixer.Environment) mixer.Environment {
	start, verify := e.Start, e.Verify
	e.Start = func(ctx context.Context, c relabel.Claim) (mixer.Episode, error) {
		begun := time.Now()
		episode, err := start(ctx, c)
		w.traces.Started(c, begun, err)
		return episode, err
	}
	e.Verify = func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error) {
		begun := time.Now()
		verdict, err := verify(ctx, c, patch)
		w.traces.Verified(c, begun, verdict, err)
		return verdict, err
	}
	return e
}
