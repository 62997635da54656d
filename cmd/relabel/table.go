package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"relabel/safetext"
)

// table prints aligned columns.
type table struct {
	lines []string
}

func newTable(heads ...string) *table { return &table{lines: []string{strings.Join(heads, "\t")}} }

// row adds a line; a nil pointer and an empty string show as a dash.
func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = safetext.TerminalLine(fmt.Sprint(c)) // an endpoint or a request may have said it
		if texts[i] == "" || texts[i] == "<nil>" {
			texts[i] = "–"
		}
	}
	t.lines = append(t.lines, strings.Join(texts, "\t"))
}

// print writes the table to standard output.
func (t *table) print() error { return t.write(os.Stdout) }

// write writes the table.
func (t *table) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, line := range t.lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// yes is how a table shows a truth.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// share is n of all in percent, or a dash.
func share(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(all))
}
