package worker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// weightPeriod is the time between two checks of the weights of a running iteration's student, by all workers
// together.
const weightPeriod = time.Minute

// WeightStore is what a WeightWatch reads and writes.
type WeightStore interface {
	// ClaimWeightChecks returns the running iterations whose open trajectories need the student, and whose last check by
	// any worker began longer ago than the period. No other caller gets them meanwhile.
	ClaimWeightChecks(ctx context.Context, period time.Duration) ([]relabel.Iteration, error)
	FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error)
	ListWeightChecks(ctx context.Context, f relabel.WeightFilter, limit int) ([]relabel.WeightCheck, error)
	ListEarlierWeights(ctx context.Context, run, policy relabel.ID, except *relabel.ID) ([]relabel.EarlierWeights, error)
	AddWeightCheck(ctx context.Context, c relabel.WeightCheck) error
	PauseIteration(ctx context.Context, id relabel.ID, reason relabel.PauseReason, text string) (relabel.Iteration, error)
}

// WeightWatchConfig is what a WeightWatch needs.
type WeightWatchConfig struct {
	Store WeightStore
	// Fingerprints takes the fingerprints of a policy's model at its addresses.
	Fingerprints func(ctx context.Context, p relabel.Policy) ([]relabel.Fingerprint, error)
	Log          zerolog.Logger
}

// WeightWatch pauses running iterations whose student no longer has the weights of the start, as after a restart
// of its server with another checkpoint.
type WeightWatch struct {
	WeightWatchConfig
	periodic
}

// NewWeightWatch returns a WeightWatch.
func NewWeightWatch(c WeightWatchConfig) (*WeightWatch, error) {
	w := &WeightWatch{WeightWatchConfig: c}
	w.periodic = periodic{Task: Task{Period: weightPeriod / 4, Delayed: true, Run: w.RunNow, Failure: "cannot check the weights of running iterations", Log: c.Log}}
	return w, require("weight watch", requirement{"Store", c.Store != nil}, requirement{"Fingerprints", c.Fingerprints != nil})
}

// RunNow checks the iterations that are due.
func (w *WeightWatch) RunNow(ctx context.Context) error { return w.check(ctx, weightPeriod) }

// check is RunNow for iterations whose last check is older than a period.
func (w *WeightWatch) check(ctx context.Context, period time.Duration) error {
	due, err := w.Store.ClaimWeightChecks(ctx, period)
	for _, it := range due {
		err = errors.Join(err, w.checkOne(ctx, it))
	}
	return err
}

// checkOne compares the student's weights with those of the iteration's start. A worker's first check of an iteration that
// started without fingerprints is a start.
func (w *WeightWatch) checkOne(ctx context.Context, it relabel.Iteration) error {
	student, err := w.Store.FindPolicy(ctx, it.StudentID)
	if err != nil || !student.GivesLogprobs() {
		return err
	}
	last, err := w.Store.ListWeightChecks(ctx, relabel.WeightFilter{IterationID: &it.ID}, 1)
	if err != nil || len(last) == 0 { // of an earlier version
		return err
	}
	earlier, err := w.Store.ListEarlierWeights(ctx, it.RunID, student.ID, &it.ID)
	if err != nil {
		return err
	}
	now, err := w.Fingerprints(ctx, student)
	if err != nil {
		return err
	}
	first := !last[0].Taken()
	check := relabel.JudgeWeights(student, now, earlier, first && it.Kind != relabel.Evaluate && it.BenchmarkID == nil)
	if !check.Taken() { // the endpoint is down or busy: outages are handled elsewhere
		return nil
	}
	check.IterationID, check.Occasion = &it.ID, relabel.WeightsInBetween
	rest := check.Allow(append(last[0].AllowedDoubts(), relabel.WeightsUnchecked))
	if len(rest) == 0 && !first {
		return nil
	}
	if err := w.Store.AddWeightCheck(ctx, check); err != nil || len(rest) == 0 {
		return err
	}
	text := doubtTexts(rest)
	w.Log.Warn().Stringer("iteration", it.ID).Msg("pausing: the weights of its student are in doubt: " + text)
	_, err = w.Store.PauseIteration(ctx, it.ID, relabel.PausedByWeights, text)
	return err
}

func doubtTexts(doubts []relabel.Doubted) string {
	var texts []string
	for _, d := range doubts {
		texts = append(texts, d.Text)
	}
	return strings.Join(texts, "; ")
}
