package verify

import (
	"context"
	"sync"

	"relabel"
)

// collect reads the views of a difference again and counts, one by one, the facts of the
// groups whose sums differ.
func (c *check) collect(ctx context.Context, d *difference) (map[fact]*factCount, error) {
	var mu sync.Mutex
	found := map[fact]*factCount{}
	for _, view := range d.views {
		err := c.each(ctx, c.views[view].files, func(ctx context.Context, entry relabel.ManifestFile) error {
			f := &fileCheck{check: c, entry: entry, source: c.sourceOf(entry.Path), findings: newFindings(c.views[view].bare)}
			return c.again(ctx, entry, func(row *relabel.ExportRow, number int) {
				f.rowFacts(row, func(class class, v fact, token int) {
					if class != d.class || !d.groups[v.group()] {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					s := found[v]
					if s == nil {
						s = &factCount{map[relabel.View]int{}, map[relabel.View]place{}}
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

// alike reports whether all views contain the fact equally often.
func (s *factCount) alike(views []relabel.View) bool {
	for _, view := range views {
		if s.count[view] != s.count[views[0]] {
			return false
		}
	}
	return true
}

// rowFacts passes the facts of a row of any view to emit.
func (f *fileCheck) rowFacts(row *relabel.ExportRow, emit emit) {
	switch {
	case f.isText(f.entry.View):
		_ = f.textFacts(row, emit, false) // reported already
		return
	case f.entry.View != relabel.ViewMessages:
		f.facts(row, f.bare, emit)
		return
	}
	if l, err := f.readLabelled(row); err == nil {
		f.messageFacts(row, l, emit, false)
	}
}

// labelAt names the label of a token unless the row has the same name.
func labelAt(row *relabel.ExportRow, token int) string {
	for i := range row.Spans {
		if s := &row.Spans[i]; token >= s.Start && token < s.End() && labelName(s) != row.ID {
			return labelName(s)
		}
	}
	return ""
}
