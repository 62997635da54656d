package verify

import (
	"context"
	"maps"

	"relabel/envs/verify/canary"
)

// controlRounds is how many runs of the gold patch must contradict a canary before it is excluded,
// so that flaky tests exclude none.
const controlRounds = 2

// control tests the gold patch and finds the canaries for its task: all but those that it
// contradicts in each of controlRounds runs. If it does not pass with them, control tries them
// without a report, then without those in the task's own test files, and then none.
func (v *Verifier) control(ctx context.Context, c candidate) (fact goldFact, t trial, err error) {
	reported, below := true, true
	for _, left := range []map[string]bool{nil, {canary.ReportKey: true}, {canary.ReportKey: true, canary.BelowKey: true}} {
		if (left[canary.BelowKey] && !below) || (left[canary.ReportKey] && !left[canary.BelowKey] && !reported) {
			continue
		}
		c.left = left
		fit, err := v.fit(ctx, c)
		if err != nil || fit.over {
			return goldFact{}, fit.trial, err
		}
		if fit.settled {
			return v.gold.note(c.task, fit.takes, fit.left, fit.trial), fit.trial, nil
		}
		if left == nil {
			reported, below = fit.trial.reported, fit.trial.below
		}
	}
	c.bare, c.left = true, nil
	t, err = v.timed(ctx, c)
	if err != nil || t.doubt != "" {
		return goldFact{}, t, err
	}
	return v.gold.note(c.task, false, nil, t), t, nil
}

// fit is the result of runs of the gold patch with the same canaries.
type fit struct {
	trial   trial           // the last
	over    bool            // the last was interrupted, and nothing is known
	settled bool            // takes and left are known
	takes   bool            // the task's run has canaries
	left    map[string]bool // keys of excluded canaries
}

// fit tests the gold patch with canaries, at most controlRounds times.
func (v *Verifier) fit(ctx context.Context, c candidate) (fit, error) {
	var missed map[string]bool // keys, in each run so far
	var with trial
	for range controlRounds {
		var err error
		with, err = v.timed(ctx, c)
		switch {
		case err != nil || (with.doubt != "" && !with.disturbed):
			return fit{trial: with, over: true}, err
		case with.doubt != "":
			continue
		case !with.planted && with.believed():
			return fit{trial: with, settled: true, takes: !c.left[canary.BelowKey], left: c.left}, nil
		case with.believed() && with.verdict.Passed:
			return fit{trial: with, settled: true, takes: true, left: c.left}, nil
		case with.believed():
			bare := c
			bare.bare = true
			without, err := v.timed(ctx, bare)
			if err != nil || without.doubt != "" {
				return fit{trial: without, over: true}, err
			}
			if !without.verdict.Passed {
				return fit{trial: without, settled: true, takes: true, left: c.left}, nil
			}
		case !with.verdict.Passed || !with.leavable:
		case missed != nil:
			maps.DeleteFunc(missed, func(key string, _ bool) bool { return !keysOf(with.missed)[key] })
			maps.Copy(missed, c.left)
			return fit{trial: with, settled: true, takes: true, left: missed}, nil
		default:
			missed = keysOf(with.missed)
		}
	}
	return fit{trial: with}, nil
}

func keysOf(misses []canary.Miss) map[string]bool {
	keys := map[string]bool{}
	for _, m := range misses {
		keys[m.Key] = true
	}
	return keys
}
