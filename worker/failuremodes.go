package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	// classify and stores what that returns. eachTurn passes it the turns, in order. It returns the
	// trajectory, with an error too; the zero id if there was none besides those of except.
	ClassifyNext(ctx context.Context, except []relabel.ID, classify func(e relabel.FailureEvidence, eachTurn func(func(relabel.Turn)) error) (relabel.FailureFinding, error)) (relabel.ID, error)
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
	mutex       sync.Mutex   // of a call of RunNow
	failed      []relabel.ID // trajectories that are passed over
	failedSince time.Time    // of the first of them
}

// NewFailureModes returns a FailureModes.
func NewFailureModes(c FailureModesConfig) (*FailureModes, error) {
	m := &FailureModes{FailureModesConfig: c}
	m.periodic = periodic{Task: Task{Period: failureModesPeriod, Run: m.RunNow, Failure: "cannot compute failure modes", Log: c.Log}}
	return m, require("failure modes", requirement{"Store", c.Store != nil})
}

const (
	mostFailed         = 100              // trajectories that may fail in one call of RunNow
	failureModesRetry  = 10 * time.Minute // from the first failure to another computation
	mostFailuresLogged = 3
)

// RunNow computes all modes that are missing. A trajectory that fails is passed over for some
// minutes, by later calls too, so that any number of them keeps no other waiting.
func (m *FailureModes) RunNow(ctx context.Context) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if time.Since(m.failedSince) > failureModesRetry {
		m.failed = nil
	}
	var failures []error
	for len(failures) < mostFailed {
		id, err := m.Store.ClassifyNext(ctx, m.failed, classify)
		if id == (relabel.ID{}) || ctx.Err() != nil {
			return errors.Join(counted(failures), err)
		}
		if err != nil {
			m.passOver(id)
			failures = append(failures, fmt.Errorf("trajectory %s: %w", id, err))
		}
	}
	return counted(failures)
}

func (m *FailureModes) passOver(id relabel.ID) {
	if len(m.failed) == 0 {
		m.failedSince = time.Now()
	}
	m.failed = append(m.failed, id)
}

// counted joins the first failures and says how many more there are.
func counted(failures []error) error {
	if more := len(failures) - mostFailuresLogged; more > 0 {
		failures = append(failures[:mostFailuresLogged:mostFailuresLogged], fmt.Errorf("and %d more trajectories", more))
	}
	return errors.Join(failures...)
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
