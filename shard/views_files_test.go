package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sync/semaphore"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/tree"
)

func TestFilesWrittenSideBySideHaveTheBytesOfFilesWrittenInTurn(t *testing.T) {
	s := synthetic{Rand: rand.New(rand.NewSource(3)), words: 500, turns: 9, observation: 120, beta: 0.3}
	var roots []*tree.Root
	for i := range 8 {
		roots = append(roots, rootsOf(t, []tree.Trajectory{s.trajectory(i)}, tree.PerToken)...)
	}
	v := tokenViews{Capacity: 1500, Longest: 1500, DataParallel: 5, Version: "test"}
	written := map[int64]map[string]string{}
	for _, cores := range []int64{1, 5} {
		dir := t.TempDir()
		for _, view := range []relabel.View{relabel.ViewLinear, relabel.ViewPacked, relabel.ViewTree, relabel.ViewArrow} {
			p := part{First: 1, Step: 3, Roots: unweighted(roots), Cores: semaphore.NewWeighted(cores)}
			if _, err := v.write(context.Background(), view, dir, p); err != nil {
				t.Fatal(err)
			}
		}
		written[cores] = filesBelow(t, dir)
	}
	if len(written[1]) != 4*5 || !maps.Equal(written[1], written[5]) {
		t.Errorf("%d and %d files", len(written[1]), len(written[5]))
	}
}

// unweighted sets all weights to 1, which rows without weights require.
func unweighted(roots []*tree.Root) []*tree.Root {
	for _, r := range roots {
		for s := range r.Spans {
			for i := range s.Weights {
				s.Weights[i] = 1
			}
		}
	}
	return roots
}

// pairs writes files of two rows, each a digit; it cannot write row 9.
type pairs struct {
	to   *outfile.Output
	rows int
}

func (p *pairs) Fits(int64) (bool, error) { return p.rows < 2, nil }

func (p *pairs) Write(row int, _ int64) error {
	if row == 9 {
		return errors.New("cannot write the row")
	}
	p.rows++
	_, err := fmt.Fprint(p.to, row)
	return err
}

func (p *pairs) Close() error { return nil }

// writePairs returns a function that begins files of pairs below dir, whose rows are their numbers plus an offset.
func writePairs(dir string, offset int) func(part) (*outfile.Writer[int], rowFunc[int]) {
	return func(p part) (*outfile.Writer[int], rowFunc[int]) {
		w := outfile.NewWriter(dir, "pairs", "", p.First, p.Step, func(out *outfile.Output) (outfile.Encoder[int], error) { return &pairs{to: out}, nil })
		return w, func(i int) (int, outfile.Size, error) { return offset + i, outfile.Size{}, nil }
	}
}

func TestAFileThatIsFullGoesOnInOneWithANumberOfItsPart(t *testing.T) {
	dir, put := t.TempDir(), map[string]bool{}
	var lock sync.Mutex
	p := part{First: 1, Step: 2, Put: func(f outfile.File) error {
		lock.Lock()
		defer lock.Unlock()
		put[f.Path] = true
		return nil
	}}
	got, err := sideBySide(context.Background(), p, []int{5, 1, 2}, 80, writePairs(dir, 0))
	want := map[string]string{"pairs/00001": "01", "pairs/00007": "23", "pairs/00013": "4", "pairs/00003": "5", "pairs/00005": "67"}
	if rows := filesBelow(t, dir); err != nil || !maps.Equal(rows, want) || got.Rows != 8 || got.Tokens != 80 || len(got.Files) != 5 {
		t.Errorf("%v, %+v, %v", rows, got, err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(put)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("put %v", put)
	}
}

func TestAFileThatCannotBeWrittenEndsTheView(t *testing.T) {
	p := part{Step: 1, Cores: semaphore.NewWeighted(1)}
	_, err := sideBySide(context.Background(), p, []int{1, 1, 1}, 0, writePairs(t.TempDir(), 8))
	if err == nil || err.Error() != "cannot write the row" {
		t.Error(err)
	}
}
