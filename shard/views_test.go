package shard

import (
	"context"
	"maps"
	"math/rand"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/shard/tree"
)

// TestTokenViewsHoldExactlyThePairs writes every view of random trajectories in two parts
// and has Python read them back by the documents alone.
func TestTokenViewsHoldExactlyThePairs(t *testing.T) {
	for name, c := range map[string]struct {
		v    tokenViews
		odd  bool
		beta float32
		n    tree.Normalisation
		cut  bool
	}{
		"dagger":          {tokenViews{}, false, 0.3, tree.PerToken, false},
		"student alone":   {tokenViews{DataParallel: 3}, false, 0, tree.PerTransition, false},
		"teacher, padded": {tokenViews{Pad: true, PadID: testPad}, false, 1, tree.PerToken, false},
		"everything odd":  {tokenViews{}, true, 0.5, tree.PerToken, true},
		"odd, dropped":    {tokenViews{Longest: 700}, true, 0.8, tree.PerTransition, false},
		"odd, way apart":  {tokenViews{Longest: 500, Pad: true, PadID: testPad}, true, 0.2, tree.PerToken, true},
		"odd, student":    {tokenViews{}, true, 0, tree.PerToken, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.v.Capacity, c.v.Version = 1500, "test"
			if c.v.Longest == 0 {
				c.v.Longest = c.v.Capacity
			}
			dir := t.TempDir()
			s := synthetic{Rand: rand.New(rand.NewSource(7)), words: 40, turns: 9, observation: 120, beta: c.beta, odd: c.odd}
			pairs := writeParts(t, dir, s, c.v, c.n, c.cut)
			out, err := exec.Command(python(t), "testdata/check_shards.py", dir, filepath.Join(pairs, "pairs.json"), "--alter").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "alterations found") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// writeParts writes an export of two parts into dir, and returns the folder of its pairs.json.
func writeParts(t testing.TB, dir string, s synthetic, v tokenViews, n tree.Normalisation, cut bool) string {
	t.Helper()
	var pairs [][3]any
	views := map[relabel.View]viewFigures{}
	for number := range 2 {
		var trajectories []tree.Trajectory
		for i := range 6 {
			trajectories = append(trajectories, s.trajectory(10*number+i))
		}
		gone := map[string][]int{}
		var roots []*tree.Root
		for _, r := range rootsOf(t, trajectories, n) {
			fitted, over, _ := r.Fit(v.Longest, cut)
			gone[r.Origin.Trajectory] = append(gone[r.Origin.Trajectory], over...)
			if fitted != nil {
				roots = append(roots, fitted)
			}
		}
		for _, tr := range trajectories {
			for i := range tr.Turns {
				tr.Turns[i].Labelled = tr.Turns[i].Labelled && !slices.Contains(gone[tr.Trajectory], tr.Turns[i].T)
			}
			pairs = append(pairs, pairsOf(t, tr, n)...)
		}
		for view, f := range writeViews(t, v, dir, part{Number: number, First: 100 * number, Roots: roots}) {
			f.Files = append(views[view].Files, f.Files...)
			views[view] = f
		}
	}
	if len(pairs) < 20 {
		t.Fatalf("%d pairs prove nothing", len(pairs))
	}
	writeManifest(t, dir, v, views)
	beside := t.TempDir()
	writeJSON(t, filepath.Join(beside, "pairs.json"), pairs)
	return beside
}

func TestTheSamePartGivesTheSameBytes(t *testing.T) {
	var written []map[string]string
	for range 2 {
		dir := t.TempDir()
		v := tokenViews{Capacity: 1500, Longest: 1500, Version: "test"}
		s := synthetic{Rand: rand.New(rand.NewSource(7)), words: 40, turns: 9, observation: 120, odd: true}
		writeParts(t, dir, s, v, tree.PerToken, false)
		written = append(written, filesBelow(t, dir))
	}
	if len(written[0]) != 7 || !maps.Equal(written[0], written[1]) {
		t.Errorf("%d files and %d, or other bytes", len(written[0]), len(written[1]))
	}
	names := slices.Sorted(maps.Keys(written[0]))
	if want := "linear/00000.parquet linear/00100.parquet manifest.json packed/00000.idx.parquet packed/00100.idx.parquet tree/00000.parquet tree/00100.parquet"; strings.Join(names, " ") != want {
		t.Errorf("files %v", names)
	}
}

func TestBareLinearHasThreeColumnsAndRefusesWeights(t *testing.T) {
	v := tokenViews{Bare: true, Capacity: 4000, Longest: 4000, Version: "test"}
	s := synthetic{Rand: rand.New(rand.NewSource(7)), words: 40, turns: 9, observation: 120}
	trajectories := []tree.Trajectory{s.trajectory(0)}
	dir := t.TempDir()
	if _, err := v.write(context.Background(), relabel.ViewLinear, dir, part{Roots: rootsOf(t, trajectories, tree.PerToken)}); err != nil {
		t.Fatal(err)
	}
	out := runPython(t, dir, `
import pyarrow.parquet as pq
f = pq.ParquetFile("linear/00000.parquet")
print([(c, str(t.value_type)) for c, t in zip(f.schema_arrow.names, f.schema_arrow.types)], f.schema_arrow.metadata[b"relabel.loss_mask"])
for r in f.read().to_pylist():
    assert len(r["input_ids"]) == len(r["labels"]) == len(r["attention_mask"]) and set(r["attention_mask"]) == {1}
    assert {a for a, b in zip(r["input_ids"], r["labels"]) if b not in (-100, a)} == set() and r["labels"][-1] == 3
`)
	if want := "[('input_ids', 'int32'), ('attention_mask', 'int8'), ('labels', 'int32')] b'none'"; strings.TrimSpace(string(out)) != want {
		t.Errorf("got %s", out)
	}
	_, err := v.write(context.Background(), relabel.ViewLinear, t.TempDir(), part{Roots: rootsOf(t, trajectories, tree.PerTransition)})
	if relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("weights other than 1: %v", err)
	}
}

func TestARowOf128kTokensIsWritten(t *testing.T) {
	s := synthetic{Rand: rand.New(rand.NewSource(7)), words: 150_000, turns: 1, observation: 100}
	tr := s.trajectory(0)
	tr.Turns = tr.Turns[:1]
	turn := &tr.Turns[0]
	turn.State = s.ids(128<<10, 128<<10)
	turn.Prompt = slices.Concat(turn.State, s.ids(2, 2))
	turn.Answer = append(s.ids(60_000, 60_000), testStop)
	turn.Weights = make([]float32, len(turn.Answer))
	for i := range turn.Weights {
		turn.Weights[i] = s.Float32()
	}
	v := tokenViews{Capacity: 256 << 10, Longest: 256 << 10, Version: "test"}
	for view, f := range writeViews(t, v, t.TempDir(), part{Roots: rootsOf(t, []tree.Trajectory{tr}, tree.PerToken)}) {
		if f.Rows != 1 || f.Tokens != 128<<10+2+60_001 || f.fill(v.Capacity) < 0.7 {
			t.Errorf("%s: %d rows, %d tokens, fill %v", view, f.Rows, f.Tokens, f.fill(v.Capacity))
		}
	}
}
