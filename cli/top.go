package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"relabel"
)

// TopCommand is `relabel top`.
type TopCommand struct {
	ClientFlags
	Once  bool          `help:"Print one snapshot and exit; the default if standard output is not a terminal."`
	Every time.Duration `default:"2s" help:"Refresh interval."`
	Rows  int           `default:"0" help:"Maximum number of trajectories; 0: as many as fit, or all in a snapshot."`
}

// snapshot is the content of one page.
type snapshot struct {
	at      time.Time
	all     relabel.Overview
	workers []relabel.Worker
}

// Validate refuses intervals that would overload the server.
func (c *TopCommand) Validate() error {
	if c.Every < 100*time.Millisecond {
		return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least 100ms", c.Every).On("--every")
	}
	return nil
}

// Run shows the activity until a signal.
func (c *TopCommand) Run(ctx context.Context) error {
	return c.With(ctx, func(cl *Session) error {
		if c.Once || !term.IsTerminal(int(os.Stdout.Fd())) {
			s, err := look(ctx, cl)
			if err != nil {
				return err
			}
			return s.print(os.Stdout, c.Rows)
		}
		return c.watch(ctx, cl)
	})
}

// look reads the current state from the server.
func look(ctx context.Context, cl *Session) (s snapshot, err error) {
	s.at = time.Now()
	if s.all, err = cl.Overview(ctx); err != nil {
		return s, err
	}
	s.workers, err = cl.Workers(ctx)
	return s, err
}

// watch draws a page on the terminal until ctx ends. If the server does not answer, it prints
// the error and retries.
func (c *TopCommand) watch(ctx context.Context, cl *Session) error {
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	fmt.Print("\x1b[?1049h\x1b[?25l") // the alternate screen, without the cursor
	defer fmt.Print("\x1b[?25h\x1b[?1049l")
	for {
		width, height, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil {
			width, height = 80, 24
		}
		s, err := look(ctx, cl)
		if ctx.Err() != nil {
			return nil
		}
		var page bytes.Buffer
		if err != nil {
			fmt.Fprintf(&page, "%s  %s\n", time.Now().Format(time.TimeOnly), Message(err))
		} else if err := s.print(&page, cmp.Or(c.Rows, height)); err != nil {
			return err
		}
		if err := draw(os.Stdout, page.String(), width, height); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// draw prints as much of the page as fits on the screen.
func draw(out io.Writer, page string, width, height int) error {
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	_, err := io.WriteString(out, b.String())
	return err
}

// print writes the snapshot with at most the given number of trajectories, 0 for all.
func (s snapshot) print(out io.Writer, rows int) error {
	ended, all := counts(s.all.Total)
	workers := "1 worker"
	if n := len(s.workers); n != 1 {
		workers = fmt.Sprintf("%d workers", n)
	}
	fmt.Fprintf(out, "%s  %s, %d of %d trajectories ended, %d turns, %d labels, %d pending, %d missing, efficiency %s\n",
		s.at.Format(time.TimeOnly), workers, ended, all, s.all.Total.Turns, s.all.Total.LabelsReceived, s.all.Total.LabelsPending,
		s.all.Total.LabelsMissed, ratio(s.all.Efficiency))
	for _, t := range []*table{s.runTable(), s.outageTable(), s.workerTable(), s.endpointTable(), s.rolloutTable(rows)} {
		if len(t.lines) == 1 {
			continue
		}
		fmt.Fprintln(out)
		if err := t.write(out); err != nil {
			return err
		}
	}
	return nil
}

func ratio(r *float64) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *r)
}

func (s snapshot) runTable() *table {
	t := newTable("RUN", "STATE", "ENDED", "QUEUED", "RUNNING", "LABELLING", "VERIFYING", "FAILED", "TURNS", "LABELS", "PENDING", "MISSING", "EFFICIENCY")
	for _, r := range s.all.Runs {
		p := r.Progress
		ended, all := counts(p)
		state := "running"
		if r.Paused {
			state = "paused"
		}
		t.row(r.Name, state, fmt.Sprintf("%d of %d", ended, all), p.Trajectories[relabel.Queued], p.Trajectories[relabel.Running],
			p.Trajectories[relabel.Labelling], p.Trajectories[relabel.Verifying], p.Trajectories[relabel.Failed],
			p.Turns, labelsOf(p), p.LabelsPending, p.LabelsMissed, ratio(r.Efficiency))
	}
	return t
}

// outageTable lists the endpoints that are down and that queued trajectories wait for.
func (s snapshot) outageTable() *table {
	t := newTable("WAITS FOR", "ROLE", "ENDPOINT", "TRAJECTORIES", "FOR", "WHY")
	for _, o := range s.all.Outages {
		t.row(o.Policy, o.Role, o.URL, o.Waiting, s.at.Sub(o.Since).Round(time.Second), o.Reason)
	}
	return t
}

func (s snapshot) workerTable() *table {
	t := newTable("WORKER", "STATE", "TRAJECTORIES", "ROLLOUTS", "PREFETCH", "SEARCHES", "PHASES")
	for _, w := range s.workers {
		t.row(processOf(w), w.State, w.Held, w.Rollouts, w.Prefetch, w.Searches, does(w.Activity))
	}
	return t
}

// processOf names a worker by its machine and process id.
func processOf(w relabel.Worker) string { return fmt.Sprintf("%s:%d", w.Machine, w.Process) }

// does counts a worker's trajectories by phase.
func does(a *relabel.WorkerActivity) string {
	if a == nil {
		return ""
	}
	count := map[relabel.Phase]int{}
	for _, r := range a.Rollouts {
		count[r.Phase]++
	}
	var parts []string
	for _, phase := range relabel.Phases {
		if n := count[phase]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, phase))
		}
	}
	return strings.Join(parts, ", ")
}

func (s snapshot) endpointTable() *table {
	t := newTable("ENDPOINT", "IN FLIGHT", "WAITING ACTIONS", "URGENT LABELS", "OTHER LABELS", "STATE")
	for _, e := range together(s.workers) {
		state := "up"
		if e.Down != "" {
			state = "down: " + e.Down
		}
		t.row(e.URL, fmt.Sprintf("%d of %d", e.InFlight, e.Limit), e.WaitingActs, e.WaitingRaised, e.WaitingLabels, state)
	}
	return t
}

// rolloutTable lists the trajectories by the time in their current phase, longest first.
func (s snapshot) rolloutTable(rows int) *table {
	t := newTable("TRAJECTORY", "INSTANCE", "WORKER", "ATTEMPT", "TURN", "PHASE", "FOR", "LABELS REQUESTED")
	type held struct {
		relabel.RolloutActivity
		worker string
	}
	var all []held
	for _, w := range s.workers {
		if w.Activity == nil || w.State == relabel.WorkerSilent {
			continue
		}
		for _, r := range w.Activity.Rollouts {
			all = append(all, held{r, processOf(w)})
		}
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(b.PhaseMillis, a.PhaseMillis), strings.Compare(a.TrajectoryID.String(), b.TrajectoryID.String()))
	})
	if rows > 0 {
		all = all[:min(rows, len(all))]
	}
	for _, r := range all {
		does := string(r.Phase)
		if r.WaitsFor != "" {
			does = "waits for " + r.WaitsFor
		}
		t.row(r.TrajectoryID, r.InstanceID, r.worker, r.Attempt, r.Turn, does,
			fmt.Sprintf("%.1fs", float64(r.PhaseMillis)/1000), r.LabelsAsked)
	}
	return t
}

// together sums the activity at each endpoint over several workers, by URL.
func together(workers []relabel.Worker) []relabel.EndpointActivity {
	sums := map[string]*relabel.EndpointActivity{}
	for _, w := range workers {
		if w.Activity == nil || w.State == relabel.WorkerSilent {
			continue
		}
		for _, a := range w.Activity.Endpoints {
			sum := sums[a.URL]
			if sum == nil {
				sum = &relabel.EndpointActivity{URL: a.URL}
				sums[a.URL] = sum
			}
			sum.InFlight += a.InFlight
			sum.Limit += a.Limit
			sum.WaitingActs += a.WaitingActs
			sum.WaitingRaised += a.WaitingRaised
			sum.WaitingLabels += a.WaitingLabels
			sum.Down = cmp.Or(sum.Down, a.Down)
		}
	}
	list := make([]relabel.EndpointActivity, 0, len(sums))
	for _, url := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[url])
	}
	return list
}
