package web

import (
	"fmt"

	"relabel"
)

// rewarded describes the verdict on a task in a terminal, and counts files of the system that had been changed when
// its tests ran.
func (v trajectoryView) rewarded(verdict relabel.Verdict) string {
	cause := ""
	switch {
	case verdict.Score == nil:
		cause = "There is no reward."
	case verdict.Passed && v.Resolved != nil && !*v.Resolved:
		cause = "The reward is 1, but the agent did not finish, so that the task is not resolved."
	case verdict.Passed:
		cause = "The reward is 1."
	case verdict.Reason == relabel.VerdictReward:
		cause = fmt.Sprintf("The tests gave the reward %.3g.", *verdict.Score)
	default:
		cause = fmt.Sprintf("The reward is 0: %s.", verdictWord(verdict.Reason))
	}
	if verdict.AlteredCount > 0 {
		cause += fmt.Sprintf(" Before the tests, %d programs, libraries or settings of the system differed from the image's.", verdict.AlteredCount)
	}
	return cause
}
