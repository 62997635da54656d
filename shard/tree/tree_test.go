package tree

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestEveryViewTrainsLikeThePairs is eq. 11–13: the views hold each supervised token
// with its whole prefix and its weight, once.
func TestEveryViewTrainsLikeThePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]Normalisation{PerToken, PerTransition}).Draw(t, "normalisation")
		tr := drawTrajectory(t, "a")
		roots := build(t, tr, n)
		want := ofPairs(t, tr, n)
		if d := differences(want, ofLinear(roots)); d != "" {
			t.Fatalf("pairs and linear differ:\n%s", d)
		}
		var f Forest
		for _, r := range roots {
			f.Add(r)
		}
		if d := differences(want, ofForest(&f)); d != "" {
			t.Fatalf("pairs and tree differ:\n%s", d)
		}
	})
}

func TestRowsObeyTheirRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Forest
		names := map[string]bool{}
		trees := 0
		for _, name := range []string{"a", "b"} {
			for _, r := range build(t, drawTrajectory(t, name), PerToken) {
				before := len(f.IDs)
				f.Add(r)
				trees++
				if got := len(f.IDs) - before; got != r.Tokens() {
					t.Fatalf("a tree of %d tokens takes %d", r.Tokens(), got)
				}
				if longest := slices.Max(f.Positions[before:]) + 1; int(longest) != r.Longest() {
					t.Fatalf("longest way %d, said %d", longest, r.Longest())
				}
				for _, s := range r.Linear() {
					checkSequence(t, s)
					if names[s.Name] {
						t.Fatalf("two rows are called %s", s.Name)
					}
					names[s.Name] = true
				}
			}
		}
		if rapid.Bool().Draw(t, "pad") {
			f.Pad(len(f.IDs)+rapid.IntRange(0, 3).Draw(t, "padding"), 5)
		}
		checkForest(t, &f, trees)
	})
}

// checkSequence checks a linear row: it ends at its last supervised token and does not
// begin with one, and each span ends with the stop token.
func checkSequence(t *rapid.T, s Sequence) {
	ids := s.AppendIDs(nil)
	end := 0
	for _, span := range s.Spans {
		if span.Start < max(end, 1) || ids[span.End()-1] != stopID {
			t.Fatalf("%s: a span at %d after %d", s.Name, span.Start, end)
		}
		end = span.End()
	}
	if end != len(ids) || len(ids) != s.Length() {
		t.Fatalf("%s: %d tokens, the last supervised one ends at %d", s.Name, len(ids), end)
	}
}

// checkForest checks a tree row by its columns alone.
func checkForest(t *rapid.T, f *Forest, trees int) {
	n := len(f.IDs)
	supervised := make([]bool, n)
	for _, s := range f.Spans {
		for q := s.Start; q < s.End(); q++ {
			if supervised[q] || f.Positions[q] == 0 || f.Positions[q-1] != f.Positions[q]-1 || int(f.SubtreeEnd[q-1]) <= q {
				t.Fatalf("token %d is supervised twice, or not after its predecessor", q)
			}
			supervised[q] = true
		}
		if f.IDs[s.End()-1] != stopID {
			t.Fatalf("span at %d has no stop token", s.Start)
		}
	}
	for q := range n { // position is the number of tokens seen
		seen := 0
		for k := range q {
			if int(f.SubtreeEnd[k]) > q {
				seen++
			}
		}
		if int(f.Positions[q]) != seen || int(f.SubtreeEnd[q]) <= q || int(f.SubtreeEnd[q]) > n {
			t.Fatalf("token %d: position %d, sees %d, subtree ends at %d", q, f.Positions[q], seen, f.SubtreeEnd[q])
		}
	}
	roots := 0
	for i, start := range f.NodeStart {
		end := n
		if i+1 < len(f.NodeStart) {
			end = int(f.NodeStart[i+1])
		}
		parent := f.NodeParent[i]
		if int(start) >= end || i == 0 && start != 0 || supervised[start] || int(parent) >= i {
			t.Fatalf("node %d: %d to %d, parent %d", i, start, end, parent)
		}
		if parent >= 0 && (f.NodeKind[parent] != Trunk || f.SubtreeEnd[f.NodeStart[parent]] < int32(end)) {
			t.Fatalf("node %d lies below node %d, which ends before", i, parent)
		}
		if parent < 0 && f.NodeKind[i] != Padding {
			roots++
		}
		if f.NodeKind[i] == Padding && (i+1 != len(f.NodeStart) || parent != -1) {
			t.Fatalf("padding is node %d of %d, parent %d", i, len(f.NodeStart), parent)
		}
	}
	if roots != trees {
		t.Fatalf("%d roots of %d trees", roots, trees)
	}
}

func TestFitAndSplitKeepLabelsWithTheirPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrajectory(t, "a")
		limit, cut := rapid.IntRange(1, 30).Draw(t, "limit"), rapid.Bool().Draw(t, "cut")
		gone := map[int]bool{}
		var fitted []*Root
		var f Forest
		for _, r := range build(t, tr, PerToken) {
			kept, over, counts := r.Fit(limit, cut)
			if counts.Labels() != len(over) || !cut && counts.TrunksCut > 0 || counts.TrunksCut+counts.TrunksDropped > 1 {
				t.Fatalf("%d labels are over the limit, counted as %+v", len(over), counts)
			}
			for _, turn := range over {
				gone[turn] = true
			}
			if kept == nil {
				continue
			}
			fitted = append(fitted, kept)
			for _, part := range kept.Split(limit) {
				if part.Tokens() > limit {
					t.Fatalf("a part of %d tokens, limit %d", part.Tokens(), limit)
				}
				f.Add(part)
			}
		}
		for _, r := range fitted {
			for _, s := range r.Linear() {
				checkSequence(t, s)
				if s.Length() > limit {
					t.Fatalf("%s has %d tokens, limit %d", s.Name, s.Length(), limit)
				}
			}
		}
		for i, turn := range tr.Turns {
			over := len(turn.Prompt)+len(turn.Answer) > limit
			if cut && turn.Labelled && gone[turn.T] != over || over && turn.Labelled && !gone[turn.T] {
				t.Fatalf("turn %d of %d + %d tokens: left out is %v, limit %d", turn.T, len(turn.Prompt), len(turn.Answer), gone[turn.T], limit)
			}
			tr.Turns[i].Labelled = turn.Labelled && !gone[turn.T]
		}
		want := ofPairs(t, tr, PerToken)
		if d := differences(want, ofLinear(fitted)); d != "" {
			t.Fatalf("pairs that fit and linear differ:\n%s", d)
		}
		if d := differences(want, ofForest(&f)); d != "" {
			t.Fatalf("pairs that fit and split trees differ:\n%s", d)
		}
	})
}
