package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/tree"
)

// Ids that the tokens of synthetic trajectories have.
const (
	testStop = 3
	testPad  = 4
	firstID  = 10 // of words
)

// synthetic draws trajectories as ids, as a template and a tokenizer would give them.
type synthetic struct {
	*rand.Rand
	words       int     // of the vocabulary
	turns       int     // at most
	observation int     // tokens at most
	beta        float32 // βi
	odd         bool    // rewritten history, odd prompts, missing labels and weights by token
}

func (s synthetic) ids(least, most int) []int32 {
	out := make([]int32, least+s.Intn(most-least+1))
	for i := range out { // few words stand often
		out[i] = firstID + int32(float64(s.words)*s.Float64()*s.Float64()*s.Float64())
	}
	return out
}

func (s synthetic) rarely() bool { return s.odd && s.Intn(12) == 0 }

func (s synthetic) trajectory(number int) tree.Trajectory {
	beta := s.beta
	tr := tree.Trajectory{Origin: tree.Origin{Trajectory: fmt.Sprintf("t%d", number), Iteration: 1 + number%3, Beta: &beta}}
	header, state := s.ids(2, 2), s.ids(20, 20+s.observation)
	for t := range 1 + s.Intn(s.turns) {
		answer := append(s.ids(3, 60), testStop)
		turn := tree.Turn{T: t + 1, State: state, Prompt: slices.Concat(state, header), Answer: answer, Labelled: !s.rarely(), Executed: s.Float32() < s.beta, Served: s.rarely(), Weight: 1}
		action := answer
		if !turn.Executed && s.Intn(4) > 0 {
			action = append(s.ids(3, 60), testStop)
		}
		if s.rarely() {
			turn.Prompt = s.ids(5, 9)
		}
		if s.odd && number%2 == 1 {
			turn.Weights = make([]float32, len(answer))
			for i := range answer {
				turn.Weights[i] = []float32{0, -0.5, 1, s.Float32()}[s.Intn(4)]
			}
		}
		if !turn.Labelled {
			turn.Prompt, turn.Answer = nil, nil
		}
		tr.Turns = append(tr.Turns, turn)
		state = slices.Concat(state, header, action, s.ids(1, s.observation))
		if s.rarely() {
			state = slices.Concat(s.ids(1, 1), state)
		}
	}
	return tr
}

// pairsOf lists the labels as they stand in PAIRS.json of testdata/check_shards.py.
func pairsOf(t testing.TB, tr tree.Trajectory, n tree.Normalisation) (pairs [][3]any) {
	for _, turn := range tr.Turns {
		if !turn.Labelled {
			continue
		}
		w, err := n.Weights(turn.Weight, turn.Weights, len(turn.Answer))
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, [3]any{turn.Prompt, turn.Answer, w})
	}
	return pairs
}

// writeViews writes all token views of a part.
func writeViews(t testing.TB, v tokenViews, dir string, p part) map[relabel.View]viewFigures {
	t.Helper()
	views := map[relabel.View]viewFigures{}
	for _, view := range []relabel.View{relabel.ViewLinear, relabel.ViewPacked, relabel.ViewTree} {
		f, err := v.write(context.Background(), view, dir, p)
		if err != nil {
			t.Fatal(err)
		}
		views[view] = f
	}
	return views
}

// rootsOf builds the trees of trajectories.
func rootsOf(t testing.TB, trajectories []tree.Trajectory, n tree.Normalisation) (roots []*tree.Root) {
	for _, tr := range trajectories {
		own, err := tree.Build(tr, n)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, own...)
	}
	return roots
}

// writeManifest writes the fields of manifest.json that the check needs.
func writeManifest(t testing.TB, dir string, v tokenViews, views map[relabel.View]viewFigures) {
	m := map[string]any{"schema_version": 1, "views": slices.Sorted(maps.Keys(views)), "capacity": v.Capacity, "loss_mask": map[string]string{linearView: "token", packedView: "rolled-1"},
		"tokenizer": map[string]any{"stop_id": testStop, "pad_id": testPad}}
	var files []relabel.ManifestFile
	for _, view := range slices.Sorted(maps.Keys(views)) {
		for _, f := range views[view].Files {
			files = append(files, relabel.ManifestFile{Path: f.Path, View: view, SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
		}
	}
	m["files"] = files
	writeJSON(t, filepath.Join(dir, manifestName), m)
}

func writeJSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// bytesOf adds up the bytes of files.
func bytesOf(files []outfile.File) (n int64) {
	for _, f := range files {
		n += f.Bytes
	}
	return n
}
