package tasks

import (
	"cmp"
	"strings"

	"relabel"
)

// checker collects what Set.Check reports.
type checker struct {
	options  Options
	report   Report
	bad      map[int]bool
	number   int              // of the next row
	places   map[string]Place // instance id → its first row
	first    Place            // the row that has the kind
	problems []Problem        // if no row may be skipped
}

func newChecker(options Options) *checker {
	return &checker{options: options, report: Report{Unused: map[string]int{}}, bad: map[int]bool{}, places: map[string]Place{}}
}

// add checks one row, and returns false when enough problems were found.
func (c *checker) add(line *taskLine) bool {
	var task relabel.Task
	if len(line.problems) == 0 {
		task = line.task(c.options.Format)
	}
	if task.InstanceID != "" {
		c.checkTwice(line, task.InstanceID)
	}
	c.checkKind(line, task.Kind)
	if len(line.problems) > 0 {
		c.refuse(line.problems)
	} else {
		c.accept(line, task)
	}
	c.number++
	return !c.full()
}

// accept counts a row that is right.
func (c *checker) accept(line *taskLine, task relabel.Task) {
	c.report.IDs = append(c.report.IDs, task.InstanceID)
	c.places[task.InstanceID] = line.place
	if c.report.Kind == "" {
		c.report.Kind, c.first = task.Kind, line.place
	}
	for _, field := range line.unused() {
		if _, known := c.report.Unused[field]; !known && len(c.report.Unused) >= maxUnused {
			field = otherUnused
		}
		c.report.Unused[field]++
	}
}

// refuse records the problems of a row.
func (c *checker) refuse(problems []Problem) {
	if !c.options.SkipBad {
		c.problems = append(c.problems, problems...)
		return
	}
	c.bad[c.number] = true
	c.report.Skips++
	room := MaxSkipped - len(c.report.Skipped)
	c.report.Skipped = append(c.report.Skipped, problems[:min(len(problems), max(room, 0))]...)
}

// full reports whether enough problems were found.
func (c *checker) full() bool { return len(c.problems) > maxProblems }

// failed is the error for a file that cannot be read further, together with the problems before.
func (c *checker) failed(err error) error {
	if len(c.problems) > 0 {
		return fileError(c.problems)
	}
	return err
}

// verdict is the error of a file that was read, nil if its tasks can be used.
func (c *checker) verdict() error {
	switch {
	case len(c.problems) > 0:
		return fileError(c.problems)
	case len(c.report.IDs) > 0:
		return nil
	case c.report.Skips > 0:
		return fileError(c.report.Skipped)
	}
	return relabel.Errorf(relabel.CodeInvalid, "%s contains no task", cmp.Or(c.options.File, theFile))
}

// checkTwice refuses an instance id that an earlier row has.
func (c *checker) checkTwice(line *taskLine, id string) {
	if first, twice := c.places[id]; twice {
		line.refuse("instance_id", "%q is that of %s too%s", id, first, splitHint(first.File, line.place.File))
	}
}

// splitHint says how to read one of the splits of two files; "" if they are of one.
func splitHint(first, second string) string {
	split := SplitOf(second)
	if first == second || SplitOf(first) == split {
		return ""
	}
	return "; read one split: --split " + split
}

// checkKind refuses a kind of task that is not that of the rows before.
func (c *checker) checkKind(line *taskLine, kind relabel.TaskKind) {
	if kind != "" && c.report.Kind != "" && kind != c.report.Kind {
		line.refuse("kind", "is %s, and that of %s is %s: a file has tasks of one kind", kind, c.first, c.report.Kind)
	}
}

// fileError returns the error for the problems of a file, with the first one as its Field.
func fileError(problems []Problem) error {
	more := ""
	if len(problems) > maxProblems {
		problems, more = problems[:maxProblems], "\nand more; nothing after this row was read"
	}
	var b strings.Builder
	b.WriteString(problems[0].Message)
	for _, p := range problems[1:] {
		b.WriteString("\n" + p.where() + ": " + p.Message)
	}
	b.WriteString(more)
	return relabel.Errorf(relabel.CodeInvalid, "%s", b.String()).On(problems[0].where())
}
