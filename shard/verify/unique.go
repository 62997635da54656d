package verify

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"relabel"
	"relabel/shard/rows"
)

// checkUnique reports duplicate row names, and labels that are twice in a view.
func (c *check) checkUnique(ctx context.Context) error {
	for _, view := range relabel.AllViews {
		v := c.views[view]
		if v == nil {
			continue
		}
		rowIDs, labels := twice(v.rowIDs), twice(v.labels)
		if len(rowIDs)+len(labels) == 0 {
			continue
		}
		if err := c.nameTwice(ctx, v, rowIDs, labels); err != nil {
			return err
		}
	}
	return nil
}

// twice sorts hashes and returns up to 10,000 of those that occur more than once.
func twice(hashes []uint64) map[uint64]bool {
	const most = 10_000
	slices.Sort(hashes)
	out := map[uint64]bool{}
	for i := 1; i < len(hashes) && len(out) < most; i++ {
		if hashes[i] == hashes[i-1] {
			out[hashes[i]] = true
		}
	}
	return out
}

// nameTwice reads a view again and reports its duplicates.
func (c *check) nameTwice(ctx context.Context, v *viewState, rowIDs, labels map[uint64]bool) error {
	var mu sync.Mutex
	first := map[string]string{} // name → file and row of its first place
	found := func(what, name, file, row string) {
		mu.Lock()
		defer mu.Unlock()
		if at, there := first[what+name]; there {
			c.refuse("twice", file, row, "%s %s is also in %s", what, name, at)
			return
		}
		first[what+name] = file + " " + row
	}
	return c.each(ctx, v.files, func(ctx context.Context, entry relabel.ManifestFile) error {
		return c.again(ctx, entry, func(row *relabel.ExportRow, number int) {
			if rowIDs[c.hash.name(row.ID, 0)] {
				found("row_id", row.ID, entry.Path, rowName(row, number))
			}
			for i := range row.Spans {
				if s := &row.Spans[i]; labels[c.hash.name(s.Trajectory, s.Turn)] {
					found("the label", labelName(s), entry.Path, rowName(row, number))
				}
			}
		})
	})
}

// again reads the rows of a file that was read before.
func (c *check) again(ctx context.Context, entry relabel.ManifestFile, do func(row *relabel.ExportRow, number int)) error {
	file, err := os.Open(filepath.Join(c.dir, filepath.FromSlash(entry.Path)))
	if err != nil {
		return nil // reported already
	}
	defer file.Close()
	r, err := rows.OpenReader(entry.View, c.dialect(), file, entry.Bytes)
	if err != nil {
		return nil // reported already
	}
	defer r.Close()
	var row relabel.ExportRow
	for number := 0; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.Next(&row); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		do(&row, number)
	}
}
