package shard

import (
	"context"
	"fmt"
	"iter"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"relabel"
)

// manyStore yields n long trajectories made one at a time, ten a part, and notes the heap
// as it goes.
type manyStore struct {
	*fixedStore
	n    int
	peak uint64 // bytes of live heap after a collection
}

func (s *manyStore) CutExport(context.Context, relabel.ID, int64) error {
	s.export.State = relabel.ExportRunning
	s.cut = make([][]relabel.ExportTrajectory, (s.n+9)/10)
	s.parts, s.done = make([]relabel.FinishedPart, len(s.cut)), make([]bool, len(s.cut))
	return nil
}

func (s *manyStore) FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error) {
	part := relabel.ExportPart{ExportID: id, Number: number}
	part.Trajectories = make([]relabel.PartTrajectory, min(10, s.n-10*number))
	return part, nil
}

func (s *manyStore) ExportTrajectories(_ context.Context, _ relabel.ExportSelection, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error] {
	return func(yield func(relabel.ExportTrajectory, error) bool) {
		for i := range part.Trajectories {
			if !yield(longTrajectory(10*part.Number+i), nil) {
				return
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			s.peak = max(s.peak, m.HeapAlloc)
		}
	}
}

// longTrajectory has 100 turns whose observations fill 64k tokens or so.
func longTrajectory(number int) relabel.ExportTrajectory {
	tr := someTrajectory(1, number, 100)
	random := rand.New(rand.NewSource(int64(number)))
	for i := range tr.Turns {
		var text strings.Builder
		for range 60 {
			fmt.Fprintf(&text, "src/module_%d.py:%d: value = compute(%x)\n", random.Intn(40), random.Intn(2000), random.Int63())
		}
		tr.Turns[i].Observations[0].Content = text.String()
	}
	return tr
}

// BenchmarkExport compares an export with one four times as long: memory must not grow.
func BenchmarkExport(b *testing.B) {
	for b.Loop() {
		var peaks [2]float64
		for i, n := range []int{25, 100} {
			s := &manyStore{fixedStore: newFixedStore(), n: n}
			x := newTestExporter(b, s)
			e := export(b, s.fixedStore, x)
			peaks[i] = float64(s.peak)
			bytes := int64(0)
			for _, f := range e.Files {
				bytes += f.Bytes
			}
			b.ReportMetric(float64(bytes)/1e6, fmt.Sprintf("MB-files-%d", n))
			b.ReportMetric(peaks[i]/1e6, fmt.Sprintf("MB-heap-%d", n))
		}
		b.ReportMetric(peaks[1]/peaks[0], "heap-ratio")
	}
}
