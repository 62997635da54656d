package cli

import (
	"strings"
	"testing"

	"relabel"
)

func TestTopShowsHowManySearchesAWorkerRuns(t *testing.T) {
	var b strings.Builder
	noError(t, snapshot{workers: []relabel.Worker{{Machine: "m", Process: 7, State: relabel.WorkerWorking, Searches: 500}}}.workerTable().write(&b))
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, "ROLLOUTS PREFETCH SEARCHES PHASES m:7 working 0 0 0 500") {
		t.Error(got)
	}
}
