package results

import (
	"testing"

	"relabel"
	"relabel/testlog"
)

func TestASkippedTestIsMaintainedButNotMadeToPass(t *testing.T) {
	task := relabel.Task{FailToPass: []string{"new"}, PassToPass: []string{"old"}}
	for _, c := range []struct {
		o    testlog.Outcomes
		want bool
	}{
		{testlog.Outcomes{"new": relabel.TestPassed, "old": relabel.TestSkipped}, true},
		{testlog.Outcomes{"new": relabel.TestSkipped, "old": relabel.TestPassed}, false},
		{testlog.Outcomes{"new": relabel.TestPassed}, false},
		{testlog.Outcomes{"new": relabel.TestPassed, "old": relabel.TestFailed}, false},
	} {
		if got := Grade(task, c.o); got.Passed != c.want || got.Tests["old"] != c.o.Of("old") {
			t.Errorf("%v: got %+v", c.o, got)
		}
	}
}
