package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"relabel"
	"relabel/api"
	"relabel/safetext"
)

// linePeriod is the minimum time between two lines while no trajectory ends.
const linePeriod = 5 * time.Second

// WatchIteration waits for an iteration's end. It shows a bar on a terminal; otherwise it
// prints a line after each change.
func WatchIteration(ctx context.Context, c *Session, id relabel.ID, title string) (api.IterationView, error) {
	show, done := lineProgress(os.Stdout, title), func() {}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		show, done = barProgress(ctx, title)
	}
	defer done()
	standsStill, tellOutages, tellWorker := "", outageNotices(os.Stderr), workerNotices(os.Stderr)
	return c.FollowIteration(ctx, id, func(it api.IterationView) {
		show(it.Progress)
		tellOutages(it.Outages)
		tellWorker(it.WaitsForWorker)
		why := cmp.Or(paused(it.Paused), paused(it.RunPaused))
		if why != standsStill {
			standsStill = why
			fmt.Fprintln(os.Stderr, safetext.TerminalLine(cmp.Or(shownPause(it.Paused), shownPause(it.RunPaused), "Resumed.")))
		}
	})
}

// outageNotices prints which endpoints an iteration begins to wait for, and which are up again.
func outageNotices(out io.Writer) (tell func([]relabel.Outage)) {
	var before []string
	return func(outages []relabel.Outage) {
		var now []string
		for _, o := range outages {
			endpoint := fmt.Sprintf("%s (%s)", o.Policy, o.URL)
			now = append(now, endpoint)
			if !slices.Contains(before, endpoint) {
				fmt.Fprintln(out, safetext.TerminalLine(fmt.Sprintf("Waits for %s: %s", endpoint, o.Reason)))
			}
		}
		for _, endpoint := range before {
			if !slices.Contains(now, endpoint) {
				fmt.Fprintln(out, safetext.TerminalLine("No longer waits for "+endpoint+"."))
			}
		}
		before = now
	}
}

// workerNotices prints which worker an iteration begins to wait for.
func workerNotices(out io.Writer) (tell func(lacked string)) {
	before := ""
	return func(lacked string) {
		if lacked != before && lacked != "" {
			fmt.Fprintln(out, safetext.TerminalLine("Waits: "+lacked+"."))
		}
		before = lacked
	}
}

// counts returns the numbers of all and of ended trajectories.
func counts(p relabel.Progress) (ended, all int) {
	for state, n := range p.Trajectories {
		all += n
		if state.Terminal() {
			ended += n
		}
	}
	return ended, all
}

// lineProgress prints a line when a trajectory ends, and every few seconds while turns are
// committed.
func lineProgress(out io.Writer, title string) (show func(relabel.Progress)) {
	last, ends := "", -1
	var printed time.Time
	return func(p relabel.Progress) {
		ended, all := counts(p)
		line := fmt.Sprintf("%s: %d of %d trajectories, %s", title, ended, all, tally(p))
		if line == last || ended == ends && time.Since(printed) < linePeriod {
			return
		}
		last, ends, printed = line, ended, time.Now()
		fmt.Fprintln(out, safetext.TerminalLine(line))
	}
}

// tally formats an iteration's turns, labels and failures so far.
func tally(p relabel.Progress) string {
	text := fmt.Sprintf("%d turns, %d labels", p.Turns, p.LabelsReceived)
	if failed := p.Trajectories[relabel.Failed]; failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// barProgress draws a bar.
func barProgress(ctx context.Context, title string) (show func(relabel.Progress), done func()) {
	progress := mpb.NewWithContext(ctx, mpb.WithOutput(os.Stdout), mpb.WithWidth(32))
	var latest atomic.Pointer[relabel.Progress] // read by the bar's own goroutine
	latest.Store(&relabel.Progress{})
	bar := progress.AddBar(0,
		mpb.PrependDecorators(decor.Name(title, decor.WC{W: len(title) + 1})),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d"), decor.Any(func(decor.Statistics) string {
			return "  " + tally(*latest.Load())
		})))
	return func(p relabel.Progress) {
			latest.Store(&p)
			ended, all := counts(p)
			bar.SetTotal(int64(all), false)
			bar.SetCurrent(int64(ended))
		}, func() {
			bar.SetTotal(-1, true)
			progress.Wait()
		}
}
