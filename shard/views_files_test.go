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
	"relabel/shard/parquet"
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

// pairsWriter puts at most two rows into a file.
type pairsWriter struct {
	of    part
	rows  map[string][]int // by path
	lock  *sync.Mutex
	files []parquet.File
}

func (w *pairsWriter) Path() string {
	return fmt.Sprint(w.of.First + w.of.Step*len(w.files))
}
func (w *pairsWriter) Skip(f parquet.File)            { w.files = append(w.files, f) }
func (w *pairsWriter) Files() []parquet.File          { return w.files }
func (w *pairsWriter) Close() ([]parquet.File, error) { return w.files, nil }
func (w *pairsWriter) Abort()                         {}

func (w *pairsWriter) Write(row int, _ parquet.Size) error {
	if row < 0 {
		return errors.New("cannot write the row")
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.rows[w.Path()]) == 2 {
		w.files = append(w.files, parquet.File{Path: w.Path()})
	}
	w.rows[w.Path()] = append(w.rows[w.Path()], row)
	return nil
}

func (w *pairsWriter) EndFile() error {
	w.files = append(w.files, parquet.File{Path: w.Path()})
	return nil
}

func TestAFileThatIsFullGoesOnInOneWithANumberOfItsPart(t *testing.T) {
	rows, put := map[string][]int{}, map[string]bool{}
	var lock sync.Mutex
	p := part{First: 1, Step: 2, Put: func(f parquet.File) error {
		lock.Lock()
		defer lock.Unlock()
		put[f.Path] = true
		return nil
	}}
	got, err := sideBySide(context.Background(), p, []int{5, 1, 2}, 80, func(one part) (fileWriter[int], rowFunc[int]) {
		return &pairsWriter{of: one, rows: rows, lock: &lock}, func(i int) (int, parquet.Size, error) { return i, parquet.Size{}, nil }
	})
	want := map[string][]int{"1": {0, 1}, "7": {2, 3}, "13": {4}, "3": {5}, "5": {6, 7}}
	if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) || got.Rows != 8 || got.Tokens != 80 || len(got.Files) != 5 {
		t.Errorf("%v, %+v, %v", rows, got, err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(put)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("put %v", put)
	}
}

func TestAFileThatCannotBeWrittenEndsTheOthers(t *testing.T) {
	var lock sync.Mutex
	p := part{Step: 1, Cores: semaphore.NewWeighted(1)}
	_, err := sideBySide(context.Background(), p, []int{1, 1, 1}, 0, func(one part) (fileWriter[int], rowFunc[int]) {
		return &pairsWriter{of: one, rows: map[string][]int{}, lock: &lock}, func(i int) (int, parquet.Size, error) { return -1, parquet.Size{}, nil }
	})
	if err == nil || err.Error() != "cannot write the row" {
		t.Error(err)
	}
}
