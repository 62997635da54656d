package cli

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

func NewTable(heads ...string) *table { return &table{lines: []string{strings.Join(heads, "\t")}} }

// Row adds a line; a nil pointer and an empty string show as a dash.
func (t *table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = safetext.TerminalLine(fmt.Sprint(c)) // it may come from an endpoint or a request
		if texts[i] == "" || texts[i] == "<nil>" {
			texts[i] = "–"
		}
	}
	t.lines = append(t.lines, strings.Join(texts, "\t"))
}

// Print writes the table to standard output.
func (t *table) Print() error { return t.write(os.Stdout) }

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

// Yes formats a boolean for a table.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// share formats n of all in percent; a dash if all is 0.
func share(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(all))
}
