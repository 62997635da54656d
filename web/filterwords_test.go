package web_test

import (
	"strings"
	"testing"
)

// TestTheFilterOfPassingTestsIsNotCalledUnsubmitted: what it lists is every trajectory whose
// tests pass, submitted or not.
func TestTheFilterOfPassingTestsIsNotCalledUnsubmitted(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := s.get(200, "/trajectories")
	contains(t, page, `<option value="passed">tests pass</option>`)
	if strings.Contains(page, "passes, not submitted</option>") {
		t.Error("the filter has the word for a task that is not resolved")
	}
}
