package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/failuremode"
)

// failureModesPeriod is the time between two searches for trajectories without a failure mode.
const failureModesPeriod = 5 * time.Second

// FailureModesStore stores failure modes. Its method is safe for concurrent use, also by several
// processes.
type FailureModesStore interface {
	// ClassifyNext passes a done trajectory, whose mode is missing, outdated or of an earlier verdict, to
	// classify and stores what that returns. eachTurn passes it the turns, in order. It reports
	// whether there was such a trajectory.
	ClassifyNext(ctx context.Context, classify func(e relabel.FailureEvidence, eachTurn func(func(relabel.Turn)) error) (relabel.FailureFinding, error)) (found bool, err error)
}

// FailureModesConfig is what a FailureModes needs.
type FailureModesConfig struct {
	Store FailureModesStore
	Log   zerolog.Logger
}

// FailureModes computes the failure modes of done trajectories: of those that end, of those that
// ended before relabel had modes, and again after a new verdict or a change of the rules.
type FailureModes struct {
	FailureModesConfig
	periodic
}

// NewFailureModes returns a FailureModes.
func NewFailureModes(c FailureModesConfig) (*FailureModes, error) {
	m := &FailureModes{FailureModesConfig: c}
	m.periodic = periodic{Task: Task{Period: failureModesPeriod, Run: m.RunNow, Failure: "cannot compute failure modes", Log: c.Log}}
	return m, require("failure modes", requirement{"Store", c.Store != nil})
}

// RunNow computes all modes that are missing.
func (m *FailureModes) RunNow(ctx context.Context) error {
	for {
		found, err := m.Store.ClassifyNext(ctx, classify)
		if err != nil || !found || ctx.Err() != nil {
			return err
		}
	}
}

func classify(e relabel.FailureEvidence, eachTurn func(func(relabel.Turn)) error) (relabel.FailureFinding, error) {
	var traces []failuremode.Trace
	var compared failuremode.Comparisons
	err := eachTurn(func(turn relabel.Turn) {
		traces = append(traces, failuremode.TraceOf(turn))
		compared.Add(turn)
	})
	finding := failuremode.Classify(e, traces)
	finding.Comparisons = compared.List()
	return finding, err
}
