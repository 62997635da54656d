package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

func TestProgressIsPrintedAtMostEveryFewSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		show := lineProgress(&out, "r")
		p := relabel.Progress{Trajectories: map[relabel.TrajectoryState]int{relabel.Running: 2}}
		for range 41 { // twenty seconds
			show(p)
			p.Turns++
			time.Sleep(pollPeriod)
		}
		show(p)
		show(p) // nothing new
		p.Trajectories = map[relabel.TrajectoryState]int{relabel.Running: 1, relabel.Failed: 1}
		show(p) // an end is told at once
		want := "r: 0 of 2 trajectories, 0 turns, 0 labels|r: 0 of 2 trajectories, 10 turns, 0 labels|r: 0 of 2 trajectories, 20 turns, 0 labels|" +
			"r: 0 of 2 trajectories, 30 turns, 0 labels|r: 0 of 2 trajectories, 40 turns, 0 labels|r: 1 of 2 trajectories, 41 turns, 0 labels, 1 failed"
		if got := strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "|"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestAWatcherSaysWhatAnIterationWaitsFor(t *testing.T) {
	var out bytes.Buffer
	tell := outageNotices(&out)
	down := relabel.Outage{Policy: "student@1", URL: "http://gpu/v1", Reason: "the connection failed", Waiting: 2}
	tell(nil)
	tell([]relabel.Outage{down})
	down.Waiting = 3 // nothing new
	tell([]relabel.Outage{down})
	tell(nil)
	want := "Waits for student@1 (http://gpu/v1): the connection failed\nNo longer waits for student@1 (http://gpu/v1).\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
