package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"relabel/stats"
)

// row is an arm's result after a round, over all seeds.
type row struct {
	Arm   arm
	Round int
	Seeds []evaluation
	// Success and Recovery are clustered by task where there are several seeds.
	Success stats.Interval
	// Ahead is the difference of the success rate to the arm sft on the same seeds, round and tasks, and
	// AheadRange its interval, resampled by task, nil with fewer than two tasks; both of no meaning
	// unless Compared.
	Ahead      float64
	AheadRange *stats.Interval
	Compared   bool
	Recovery   stats.Interval
	// RecoveryAhead is the difference of the recovery to that of sft, nil unless both had a first check that
	// failed. RecoveryRange is its interval by Newcombe, from that of each: the tasks differ between arms.
	RecoveryAhead *float64
	RecoveryRange stats.Interval
}

// sum adds a count over the seeds.
func (r row) sum(of func(evaluation) int) (n int) {
	for _, e := range r.Seeds {
		n += of(e)
	}
	return n
}

// Tasks is the number of trajectories.
func (r row) Tasks() int { return r.sum(func(e evaluation) int { return e.Tasks }) }

// Solved is how many of them solved their task.
func (r row) Solved() int { return r.sum(func(e evaluation) int { return e.Solved }) }

// FirstFailed is how many had a first check that failed, Recovered how many of these solved their task.
func (r row) FirstFailed() int { return r.sum(func(e evaluation) int { return e.FirstFailed }) }

// Recovered is described at FirstFailed.
func (r row) Recovered() int { return r.sum(func(e evaluation) int { return e.Recovered }) }

// Wrong is how many finished without solving their task, Unfinished how many did not finish.
func (r row) Wrong() int { return r.sum(func(e evaluation) int { return e.Wrong }) }

// Unfinished is described at Wrong.
func (r row) Unfinished() int { return r.sum(func(e evaluation) int { return e.Unfinished }) }

// Turns is the mean number of turns of a trajectory.
func (r row) Turns() float64 {
	return float64(r.sum(func(e evaluation) int { return e.Turns })) / float64(max(1, r.Tasks()))
}

// Each lists the success rate of each seed.
func (r row) Each() string {
	var each []string
	for _, e := range r.Seeds {
		each = append(each, fmt.Sprintf("%.0f", percent(e.Solved, e.Tasks)))
	}
	return strings.Join(each, " ")
}

// percent is n of all in percent, 0 of none.
func percent(n, all int) float64 { return 100 * float64(n) / float64(max(1, all)) }

// rows are the results, the shared first round first.
func (l *loop) rows() (rows []row) {
	for _, name := range append([]string{base.Name}, l.Arms...) {
		for round := 1; round <= l.Rounds; round++ {
			a := armOf(name)
			if r := newRow(a, round, l.evaluations(a, round), l.evaluations(armOf("sft"), round)); len(r.Seeds) > 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// evaluations are an arm's results after a round, by seed.
func (l *loop) evaluations(a arm, round int) map[int]evaluation {
	all := map[int]evaluation{}
	for _, seed := range l.Seeds {
		if e, done := l.Results[step(seed, a, round)]; done {
			all[seed] = e
		}
	}
	return all
}

// newRow computes the figures of a row. sft are the results that it is compared with.
func newRow(a arm, round int, by, sft map[int]evaluation) row {
	r := row{Arm: a, Round: round, Success: shareOf(by, anyFirst).interval, Recovery: shareOf(by, failedFirst).interval}
	ahead := map[string][]float64{}
	for _, seed := range slices.Sorted(maps.Keys(by)) {
		e := by[seed]
		r.Seeds = append(r.Seeds, e)
		for task, w := range e.Ways {
			if other, there := sft[seed].Ways[task]; there {
				ahead[task] = append(ahead[task], float64(count(w.Solved)-count(other.Solved)))
			}
		}
	}
	var differences []float64
	for _, task := range slices.Sorted(maps.Keys(ahead)) {
		differences = append(differences, mean(ahead[task]))
	}
	if r.Compared = len(differences) > 0 && a.Name != "sft"; r.Compared {
		r.Ahead = mean(differences)
		if interval, known := stats.BootstrapMean(differences, 1); known {
			r.AheadRange = &interval
		}
		r.compareRecovery(shareOf(common(by, sft), failedFirst), shareOf(common(sft, by), failedFirst))
	}
	return r
}

// compareRecovery sets the difference of the recovery.
func (r *row) compareRecovery(own, sft share) {
	if own.of == 0 || sft.of == 0 {
		return
	}
	r.RecoveryAhead = new(own.rate() - sft.rate())
	r.RecoveryRange = stats.Newcombe(own.rate(), own.interval, sft.rate(), sft.interval)
}

// common are the results of the seeds that both have.
func common(by, other map[int]evaluation) map[int]evaluation {
	both := map[int]evaluation{}
	for seed, e := range by {
		if _, there := other[seed]; there {
			both[seed] = e
		}
	}
	return both
}

// share is how many of some trajectories solved their task.
type share struct {
	solved, of int
	interval   stats.Interval // Wilson's for one seed, clustered by task for several
}

func (s share) rate() float64 { return float64(s.solved) / float64(max(1, s.of)) }

// shareOf counts the trajectories with a first check.
func shareOf(by map[int]evaluation, has func(first string) bool) (s share) {
	tasks := map[string]stats.Cluster{}
	for _, e := range by {
		for task, w := range e.Ways {
			if !has(w.First) {
				continue
			}
			s.of++
			s.solved += count(w.Solved)
			c := tasks[task]
			tasks[task] = stats.Cluster{Successes: c.Successes + count(w.Solved), Trials: c.Trials + 1}
		}
	}
	s.interval = stats.Wilson(s.solved, s.of)
	if len(by) > 1 {
		s.interval, _ = stats.Clustered(slices.Collect(maps.Values(tasks)))
	}
	return s
}

func anyFirst(string) bool { return true }

func failedFirst(first string) bool { return first == firstFailed }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// Rate, Difference, Repair and RepairDifference are cells of the table, in percent and points.
func (r row) Rate() string {
	return fmt.Sprintf("%.1f [%.1f, %.1f]", percent(r.Solved(), r.Tasks()), 100*r.Success.Low, 100*r.Success.High)
}

// Difference is described at Rate.
func (r row) Difference() string {
	if !r.Compared {
		return ""
	}
	if r.AheadRange == nil {
		return fmt.Sprintf("%+.1f", 100*r.Ahead)
	}
	return points(r.Ahead, *r.AheadRange)
}

// RepairDifference is described at Rate.
func (r row) RepairDifference() string {
	if r.RecoveryAhead == nil {
		return ""
	}
	return points(*r.RecoveryAhead, r.RecoveryRange)
}

// points is a difference of rates with its interval.
func points(difference float64, i stats.Interval) string {
	return fmt.Sprintf("%+.1f [%+.1f, %+.1f]", 100*difference, 100*i.Low, 100*i.High)
}

// Repair is described at Rate.
func (r row) Repair() string {
	if r.FirstFailed() == 0 {
		return "no first check failed"
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f] of %d", percent(r.Recovered(), r.FirstFailed()), 100*r.Recovery.Low, 100*r.Recovery.High, r.FirstFailed())
}

// text is the table as text.
func text(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "arm\tround\tsolved % [95 %]\teach seed\tahead of sft\tsolved after a failed check %\tahead of sft in this\tfinished wrong\tunfinished\tturns")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%.1f\n", r.Arm.Name, r.Round, r.Rate(), r.Each(), r.Difference(), r.Repair(), r.RepairDifference(), r.Wrong(), r.Unfinished(), r.Turns())
	}
	_ = w.Flush() // a builder takes everything
	return b.String()
}

// report prints the results and writes them as text and as a page.
func (l *loop) report() error {
	rows := l.rows()
	table := text(rows)
	fmt.Printf("\n%s\n", table)
	if err := os.WriteFile(filepath.Join(l.Out, "results.txt"), []byte(table), 0o644); err != nil {
		return err
	}
	page := filepath.Join(l.Out, "results.html")
	if err := writePage(page, rows, l.record); err != nil {
		return err
	}
	fmt.Printf("%s shows them; %s says what they were made of.\n", page, l.file)
	return nil
}
