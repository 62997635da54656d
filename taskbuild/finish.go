package taskbuild

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"relabel/overlap"
	"relabel/safetext"
)

// dropDuplicates refuses the tasks whose patch is a near duplicate of an earlier one's, and removes
// their images.
func (b *Builder) dropDuplicates(ctx context.Context) error {
	var index overlap.Index
	var kept []Entry
	for i, r := range b.items {
		if r.entry.Task == nil || r.entry.Reason != "" {
			continue
		}
		grams := overlap.Of(r.entry.Task.Patch)
		if found := index.Find(grams, overlap.Threshold); len(found) > 0 {
			e := r.entry
			e.Reason, e.Detail = ReasonDuplicate, fmt.Sprintf("%s, %.0f%% of the smaller patch", kept[found[0].Number].ID, 100*found[0].Share)
			if err := b.folder.journal.Add(e); err != nil {
				return err
			}
			if err := b.images.remove(ctx, e.Task.Image); err != nil {
				return err
			}
			b.items[i].entry = e
			if b.options.Done != nil {
				b.options.Done(e)
			}
			continue
		}
		index.Add(grams)
		kept = append(kept, r.entry)
	}
	return nil
}

// report sums the results.
func (b *Builder) report() Report {
	r := Report{Changes: len(b.items), Stopped: b.stopped, Refused: []Refused{}, Tasks: []string{}, FlakyTests: map[string][]string{}}
	for _, item := range b.items {
		if item.item.Refusal != nil {
			no := item.item.Refusal
			r.Refused = append(r.Refused, Refused{Change: no.Change, Title: no.Title, Reason: no.Reason, Detail: no.Detail})
			continue
		}
		r.Candidates++
		e := item.entry
		switch {
		case item.postponed:
			r.Postponed++
		case e.Reason != "":
			r.Refused = append(r.Refused, Refused{ID: e.ID, Change: e.Change, Title: e.Title, Reason: e.Reason, Detail: e.Detail})
		default:
			r.Sound++
			r.Tasks = append(r.Tasks, e.ID)
			r.Flaky += len(e.Flaky)
			if len(e.Flaky) > 0 {
				r.FlakyTests[e.ID] = e.Flaky
			}
			r.Bytes += e.Bytes
		}
		if item.built {
			r.Built++
		}
	}
	r.Seconds = time.Since(b.started).Seconds()
	return r
}

// mavenAdvice matches the lines with which Maven ends each failure; the cause is before them.
var mavenAdvice = regexp.MustCompile(`^\[ERROR\] *(?:$|\[Help \d+\]|-> \[Help|To see the full stack trace|Re-run Maven|For more information|After correcting)`)

// lastLines returns the last lines of a text that are not blank, as one line.
func lastLines(text []byte, count int) string {
	var lines []string
	for _, line := range bytes.Split(text, []byte("\n")) {
		if line := strings.TrimSpace(string(line)); line != "" && !mavenAdvice.MatchString(line) {
			lines = append(lines, line)
		}
	}
	joined := strings.Join(lines[max(0, len(lines)-count):], " | ")
	if len(joined) > 500 {
		joined = "…" + strings.ToValidUTF8(joined[len(joined)-500:], "")
	}
	return safetext.TerminalLine(strings.ToValidUTF8(joined, "�"))
}
