package verify

import (
	"context"
	"sync"

	"relabel"
)

// collect reads the views of a difference again and counts, one by one, the facts of the
// groups whose sums differ.
func (c *check) collect(ctx context.Context, d *difference) (map[fact]*saidFact, error) {
	var mu sync.Mutex
	found := map[fact]*saidFact{}
	for _, view := range d.views {
		err := c.each(ctx, c.views[view].files, func(ctx context.Context, entry relabel.ManifestFile) error {
			f := &fileCheck{check: c, entry: entry, bare: c.views[view].bare}
			return c.again(ctx, entry, func(row *relabel.ExportRow, number int) {
				f.tellRow(row, func(class class, v fact, token int) {
					if !d.asks(class) || !d.groups[v.group()] {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					s := found[v]
					if s == nil {
						s = &saidFact{map[relabel.View]int{}, map[relabel.View]place{}}
						found[v] = s
					}
					if s.count[view]++; s.count[view] == 1 {
						s.place[view] = place{entry.Path, rowName(row, number), token, labelAt(row, token)}
					}
				})
			})
		})
		if err != nil {
			return nil, err
		}
	}
	for v, s := range found {
		if s.alike(d.views) {
			delete(found, v)
		}
	}
	return found, nil
}

// asks reports whether facts of a class are what differs.
func (d *difference) asks(class class) bool {
	return class == d.class || d.class == anyToken && (class == rendered || class == served)
}

// alike reports whether all views say it as often.
func (s *saidFact) alike(views []relabel.View) bool {
	for _, view := range views {
		if s.count[view] != s.count[views[0]] {
			return false
		}
	}
	return true
}

// tellRow says what a row of any view says.
func (f *fileCheck) tellRow(row *relabel.ExportRow, say say) {
	if f.entry.View != relabel.ViewMessages {
		f.facts(row, f.bare, say)
		return
	}
	if l, err := f.readLabelled(row); err == nil {
		f.sayMessage(row, l, say, false)
	}
}

// labelAt names the label that a token is of, where the row's name does not.
func labelAt(row *relabel.ExportRow, token int) string {
	for i := range row.Spans {
		if s := &row.Spans[i]; token >= s.Start && token < s.End() && labelName(s) != row.ID {
			return labelName(s)
		}
	}
	return ""
}
