package tree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// stopID ends every label. The vocabulary is small, so that texts coincide often.
const stopID = 9

// drawTrajectory draws a trajectory with everything that happens to one: agreeing and
// disagreeing labels, history that is rendered differently from labels or rewritten,
// prompts that do not begin with their state, missing labels, served ids, and weights of
// either sign. States and prompts are never empty; headers may be.
func drawTrajectory(t *rapid.T, name string) Trajectory {
	ids := func(least, most int) []int32 {
		return rapid.SliceOfN(rapid.Int32Range(0, 2), least, most).Draw(t, "ids")
	}
	rarely := func(what string) bool { return rapid.IntRange(0, 9).Draw(t, what) == 0 }
	often := func(what string) bool { return rapid.Bool().Draw(t, what) }
	tr := Trajectory{Origin: Origin{Trajectory: name, Iteration: 1}}
	header := ids(0, 2)
	state := ids(1, 4)
	turns := rapid.IntRange(1, 7).Draw(t, "turns")
	for i := range turns {
		answer := append(ids(0, 4), stopID)
		turn := Turn{T: i + 1, State: state, Prompt: slices.Concat(state, header), Answer: answer, Labelled: !rarely("missing"), Executed: often("teacher"), Served: often("served"), Weight: 1}
		if rarely("other prompt") {
			turn.Prompt = ids(1, 5)
		}
		if often("weights") {
			turn.Weights = rapid.SliceOfN(rapid.SampledFrom([]float32{0, 1, -0.25, 3, float32(math.Copysign(0, -1))}), len(answer), len(answer)).Draw(t, "weights")
		}
		action := answer
		if !turn.Executed && often("disagrees") || rarely("history form") {
			action = append(ids(0, 4), stopID)
		}
		following := slices.Concat(state, header, action, ids(0, 5))
		switch {
		case rarely("rewritten"):
			following = append([]int32{7}, following...)
		case rarely("strays"):
			turn.State = append([]int32{8}, state...)
			turn.Prompt = slices.Concat(turn.State, header)
		}
		if !turn.Labelled {
			turn.Prompt, turn.Answer, turn.Weights = nil, nil, nil
		}
		tr.Turns, state = append(tr.Turns, turn), following
	}
	return tr
}

// build builds and fails the test if it cannot.
func build(t rapid.TB, tr Trajectory, n Normalisation) []*Root {
	roots, err := Build(tr, n)
	if err != nil {
		t.Fatal(err)
	}
	return roots
}

// counts is a multiset of (prefix, target, weight), with what else belongs to a token.
type counts map[string]int

func (c counts) add(prefix []int32, s Span, i int, target int32) {
	c[fmt.Sprint(prefix, target, math.Float32bits(s.Weights[i]), s.Turn, s.Origin.Trajectory, s.Served)]++
}

// addSequence adds a run of ids with its spans.
func (c counts) addSequence(ids []int32, spans []Span) {
	for _, s := range spans {
		for i := range s.Weights {
			c.add(ids[:s.Start+i], s, i, ids[s.Start+i])
		}
	}
}

// ofPairs is what training on each pair (st, ãt) alone would see.
func ofPairs(t rapid.TB, tr Trajectory, n Normalisation) counts {
	c := counts{}
	for _, turn := range tr.Turns {
		if !turn.Labelled {
			continue
		}
		weights, err := n.Weights(turn.Weight, turn.Weights, len(turn.Answer))
		if err != nil {
			t.Fatal(err)
		}
		s := Span{Origin: &tr.Origin, Turn: turn.T, Start: len(turn.Prompt), Weights: weights, Served: turn.Served}
		c.addSequence(slices.Concat(turn.Prompt, turn.Answer), []Span{s})
	}
	return c
}

func ofLinear(roots []*Root) counts {
	c := counts{}
	for _, r := range roots {
		for _, s := range r.Linear() {
			c.addSequence(s.AppendIDs(nil), s.Spans)
		}
	}
	return c
}

// ofForest sees what the row's mask lets each token see, and nothing else of the forest.
func ofForest(f *Forest) counts {
	c := counts{}
	for _, s := range f.Spans {
		for i := range s.Weights {
			q := s.Start + i
			var prefix []int32
			for k := range q {
				if int32(q) < f.SubtreeEnd[k] {
					prefix = append(prefix, f.IDs[k])
				}
			}
			c.add(prefix, s, i, f.IDs[q])
		}
	}
	return c
}

// differences names what is in one multiset and not in the other.
func differences(a, b counts) string {
	var out []string
	for k, n := range a {
		if b[k] != n {
			out = append(out, fmt.Sprintf("%s: %d against %d", k, n, b[k]))
		}
	}
	for k, n := range b {
		if a[k] == 0 {
			out = append(out, fmt.Sprintf("%s: 0 against %d", k, n))
		}
	}
	return strings.Join(out, "\n")
}
