package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// tooLong is what a limit excludes, worked out of the rows of the linear view of an export
// without one, as docs/shard-format.md has it under "Too long".
type tooLong struct {
	counts relabel.ManifestTooLong
	labels map[string]bool // <trajectory>/<t>
}

// excluded says what a limit excludes of rows.
func excluded(rows []linearRow, limit int, how relabel.TooLong) tooLong {
	out := tooLong{labels: map[string]bool{}}
	for _, row := range rows {
		if len(row.InputIDs) <= limit {
			continue
		}
		fits := 0
		for _, s := range row.Spans {
			if how == relabel.CutTooLong && int(s.Start+s.Length) <= limit {
				fits++
				continue
			}
			out.labels[fmt.Sprintf("%s/%d", s.Trajectory, s.Turn)] = true
		}
		switch over := len(row.Spans) - fits; {
		case row.Spans[0].Kind == "leaf":
			out.counts.LeavesDropped++
		case fits == 0:
			out.counts.TrunksDropped++
			out.counts.LabelsDropped += over
		default:
			out.counts.TrunksCut++
			out.counts.LabelsCut += over
		}
	}
	return out
}

// proves is how many there are at least of each of what must come of a limit: trunks that
// are cut (if that is asked for), dropped, leaves that are dropped, labels that are left.
func (l tooLong) proves(how relabel.TooLong, labels int) int {
	least := min(l.counts.TrunksDropped, l.counts.LeavesDropped, labels-len(l.labels))
	if how == relabel.CutTooLong {
		least = min(least, l.counts.TrunksCut)
	}
	return least
}

// linearRows are all rows of the linear view of an export.
func linearRows(t *testing.T, dir string) (rows []linearRow) {
	t.Helper()
	for _, f := range readManifest(t, dir).Files {
		if f.View == relabel.ViewLinear {
			rows = append(rows, readRows[linearRow](t, filepath.Join(dir, f.Path))...)
		}
	}
	return rows
}

// limited exports the mix with limits that cut trunks, drop trunks and drop leaves, and
// checks the labels that are left, in all views, and the manifest's counts.
func (c mixCheck) limited(t *testing.T, form relabel.ExportForm, whole []linearRow) {
	t.Helper()
	for _, how := range []relabel.TooLong{relabel.CutTooLong, relabel.DropTooLong} {
		most, limit := 0, 0
		for _, p := range c.pairs {
			least := excluded(whole, p.length(), how).proves(how, len(c.pairs))
			if least > most || least == most && p.length() > limit {
				most, limit = least, p.length()
			}
		}
		if most == 0 {
			t.Errorf("%s: no limit cuts a trunk, drops one, drops a leaf and leaves a label of %d rows: draw others", how, len(whole))
			continue
		}
		form.TooLong, form.MaxLength, form.Capacity = how, limit, limit*5/4
		c.holdLimited(t, form, excluded(whole, limit, how))
	}
}

// holdLimited exports in a form with a limit and checks what it excludes.
func (c mixCheck) holdLimited(t *testing.T, form relabel.ExportForm, want tooLong) {
	t.Helper()
	e := exportMix(t, c.mix, form)
	kept := c
	kept.pairs = nil
	for _, p := range c.pairs {
		if !want.labels[p.label] {
			kept.pairs = append(kept.pairs, p)
		}
		if form.TooLong == relabel.CutTooLong && want.labels[p.label] != (p.length() > form.MaxLength) {
			t.Errorf("%s has %d tokens of at most %d, and it is left out: %v", p.label, p.length(), form.MaxLength, want.labels[p.label])
		}
	}
	kept.hold(t, "-"+string(form.TooLong), e, len(want.labels))
	if got := readManifest(t, e.Directory).TooLong; got == nil || *got != want.counts || got.Labels() != len(want.labels) {
		t.Errorf("%s over %d tokens: the manifest counts %+v, want %+v, %d labels", form.TooLong, form.MaxLength, got, want.counts, len(want.labels))
	}
	if got := leftTooLong(t, e.Directory); !maps.Equal(got, want.labels) {
		t.Errorf("%s over %d tokens: left out %v, want %v", form.TooLong, form.MaxLength, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want.labels)))
	}
}

// leftTooLong are the labels that excluded.jsonl says are too long.
func leftTooLong(t *testing.T, dir string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, excludedName))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var left excludedLine
		if err := json.Unmarshal([]byte(line), &left); err != nil {
			t.Fatal(err)
		}
		if left.Reason == TooLong {
			labels[fmt.Sprintf("%s/%d", left.Trajectory, *left.Turn)] = true
		}
	}
	return labels
}
