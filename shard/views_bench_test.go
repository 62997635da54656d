package shard

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"testing"
	"time"

	"relabel"
	"relabel/shard/tree"
)

// peakHeap runs work and returns by how much the heap grew at most, garbage included.
func peakHeap(work func()) float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, make(chan uint64)
	stop := make(chan struct{})
	go func() {
		var highest uint64
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-tick.C:
				runtime.ReadMemStats(&m)
				highest = max(highest, m.HeapAlloc)
			case <-stop:
				tick.Stop()
				peak <- highest
				return
			}
		}
	}()
	work()
	close(stop)
	return float64(max(<-peak, before) - before)
}

// BenchmarkTree compares the tokens of trees with those of the pairs alone, at β = 0 and
// trajectories of 20, 40 and 75 turns whose observations have 300 tokens or so.
func BenchmarkTree(b *testing.B) {
	for _, turns := range []int{20, 40, 75} {
		b.Run(fmt.Sprintf("%d turns", turns), func(b *testing.B) {
			s := synthetic{Rand: rand.New(rand.NewSource(1)), words: 150_000, turns: 1, observation: 600}
			tr := s.trajectory(0)
			for len(tr.Turns) != turns {
				s.turns = turns
				tr = s.trajectory(0)
			}
			pairs, tokens := 0, 0
			var f tree.Forest
			for b.Loop() {
				pairs, tokens = 0, 0
				f.Reset()
				for _, r := range rootsOf(b, []tree.Trajectory{tr}, tree.PerToken) {
					f.Add(r)
					tokens += r.Tokens()
					for span := range r.Spans {
						pairs += span.End()
					}
				}
			}
			b.ReportMetric(float64(pairs)/float64(tokens), "pair/tree-tokens")
			b.ReportMetric(float64(tokens)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}

// BenchmarkTokenViews writes each view of trajectories of up to 79 turns at β = 0 in bins
// of 64k, and of a quarter as many: memory must not grow with them.
func BenchmarkTokenViews(b *testing.B) {
	var parts [2][]*tree.Root
	for i, n := range []int{15, 60} {
		s := synthetic{Rand: rand.New(rand.NewSource(1)), words: 150_000, turns: 79, observation: 1200}
		for k := range n {
			parts[i] = append(parts[i], rootsOf(b, []tree.Trajectory{s.trajectory(k)}, tree.PerToken)...)
		}
	}
	for _, view := range []relabel.View{relabel.ViewLinear, relabel.ViewPacked, relabel.ViewTree} {
		b.Run(string(view), func(b *testing.B) {
			v := tokenViews{Capacity: 64 << 10, Longest: 64 << 10, Version: "test"}
			var f viewFigures
			write := func(roots []*tree.Root) {
				dir, err := os.MkdirTemp(b.TempDir(), "")
				if err != nil {
					b.Fatal(err)
				}
				if f, err = v.write(context.Background(), view, dir, part{Roots: roots}); err != nil {
					b.Fatal(err)
				}
			}
			few := peakHeap(func() { write(parts[0]) })
			many := peakHeap(func() { write(parts[1]) })
			for b.Loop() {
				write(parts[1])
			}
			b.ReportMetric(float64(f.Tokens)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
			b.ReportMetric(float64(bytesOf(f.Files))/float64(f.Tokens), "B/token")
			b.ReportMetric(100*f.fill(v.Capacity), "%fill")
			b.ReportMetric(few/1e6, "MB-heap-of-15")
			b.ReportMetric(many/1e6, "MB-heap-of-60")
		})
	}
}
