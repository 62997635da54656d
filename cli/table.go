package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"relabel/safetext"
)

// table prints aligned columns.
type table struct {
	lines []string
}

// say prints a line. It shows control characters in texts of a server escaped.
func say(format string, args ...any) {
	fmt.Println(safetext.TerminalLine(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// newTable returns a table with the heads of its columns.
func newTable(heads ...string) *table { return &table{lines: []string{strings.Join(heads, "\t")}} }

// row adds a line.
func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = safetext.TerminalLine(oneLine(cellText(c))) // it may come from an endpoint or a request
		if texts[i] == "" {
			texts[i] = "–"
		}
	}
	t.lines = append(t.lines, strings.Join(texts, "\t"))
}

// cellText formats a value: a truth as yes or no, a time in the local time zone, nil as "".
func cellText(value any) string {
	switch v := value.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case time.Time:
		return v.Local().Format(time.DateTime)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		return cellText(v.Elem().Interface())
	}
	return fmt.Sprint(value)
}

// list prints a table of what fetch returns, one row for each item.
func list[T any](ctx context.Context, f ClientFlags, fetch func(*Session, context.Context) ([]T, error), heads []string, cells func(T) []any) error {
	return f.With(ctx, func(cl *Session) error {
		all, err := fetch(cl, ctx)
		if err != nil {
			return err
		}
		return printTable(all, heads, cells)
	})
}

// printTable prints a table with one row for each item.
func printTable[T any](items []T, heads []string, cells func(T) []any) error {
	t := newTable(heads...)
	for _, item := range items {
		t.row(cells(item)...)
	}
	return t.print()
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

// share formats n of all in percent; a dash if all is 0.
func share(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(all))
}

// oneLine returns a text without line breaks and terminal control sequences.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// printJSON prints a value as indented JSON.
func printJSON(value any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
