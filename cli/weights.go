package cli

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
)

// weightsOf is what the newest check of an iteration's student found, in a word.
func weightsOf(it api.IterationView) string {
	switch {
	case it.Weights == nil:
		return ""
	case it.Weights.Result == relabel.WeightsNotChecked:
		return "not checked"
	}
	return string(it.Weights.Result)
}

// weightChecksShown is the number of checks that policy show prints.
const weightChecksShown = 5

// printWeights prints the newest checks of a policy's weights.
func printWeights(ctx context.Context, cl *Session, p relabel.Policy) error {
	checks, err := cl.PolicyWeights(ctx, p.ID.String())
	if err != nil || len(checks.Checks) == 0 {
		return err
	}
	fmt.Println()
	t := newTable("WEIGHTS CHECKED", "AT", "RESULT")
	for _, c := range checks.Checks[:min(len(checks.Checks), weightChecksShown)] {
		t.row(c.At, c.Occasion, c.Text())
	}
	return t.print()
}
