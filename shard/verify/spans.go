package verify

import (
	"fmt"
	"math"
	"slices"

	"relabel"
)

// spans checks that a row's spans are in order, cover its supervised tokens exactly, and agree
// with the manifest and the weights. It returns false if they do not cover them.
func (f *fileCheck) spans(row *relabel.ExportRow) bool {
	end := 0
	for i := range row.Spans {
		s := &row.Spans[i]
		if s.Start < max(end, 1) || s.Length < 1 || s.End() > len(row.IDs) {
			f.unreadable(row, "spans", "the span of %s, tokens %d to %d, exceeds the row or overlaps the previous span", labelName(s), s.Start, s.End())
			return false
		}
		if q := supervisedFrom(row, end, s.Start); q >= 0 {
			f.unreadable(row, "spans", "token %d is supervised, but not in a span", q)
			return false
		}
		if n := supervised(row, s.Start, s.End()); n != s.Length {
			f.unreadable(row, "spans", "the span of %s, tokens %d to %d, has %d supervised tokens", labelName(s), s.Start, s.End(), n)
			return false
		}
		end = s.End()
		f.span(row, s)
	}
	if q := supervisedFrom(row, end, len(row.IDs)); q >= 0 {
		f.unreadable(row, "spans", "token %d is supervised, but not in a span", q)
		return false
	}
	return true
}

// supervisedFrom returns the first supervised token from a to b, -1 if there is none.
func supervisedFrom(row *relabel.ExportRow, a, b int) int {
	if i := slices.IndexFunc(row.Labels[a:b], func(label int32) bool { return label != relabel.Unsupervised }); i >= 0 {
		return a + i
	}
	return -1
}

// labelName names a label.
func labelName(s *relabel.ExportSpan) string { return fmt.Sprintf("%s/%d", s.Trajectory, s.Turn) }

// addLabel counts a label and its trajectory.
func (f *fileCheck) addLabel(trajectory string, turn int) {
	f.Labels++
	f.labels = append(f.labels, f.hash.name(trajectory, turn))
	f.owners[f.hash.name(trajectory, 0)] = true
}

// span checks the fields of a span.
func (f *fileCheck) span(row *relabel.ExportRow, s *relabel.ExportSpan) {
	name := labelName(s)
	f.addLabel(s.Trajectory, s.Turn)
	if s.Kind != "trunk" && s.Kind != "leaf" {
		f.reject(row, "spans", "the span of %s has the unknown kind %q", name, s.Kind)
	}
	switch s.IDs {
	case "rendered":
	case "served":
		f.servedLabels++
		f.mu.Lock()
		f.check.served[f.hash.name(s.Trajectory, s.Turn)] = true
		f.mu.Unlock()
	default:
		f.reject(row, "spans", "the span of %s has ids %q, expected rendered or served", name, s.IDs)
	}
	if t := f.manifest.Tokenizer; t != nil && row.IDs[s.End()-1] != t.StopID {
		f.reject(row, "stop", "the label %s ends with the token %d instead of the stop token %d", name, row.IDs[s.End()-1], t.StopID)
	}
	if s.Turn < 1 {
		f.reject(row, "spans", "the span of %s has an invalid turn", name)
	}
	f.round(row, s)
	f.spanWeights(row, s)
	f.ownAction(row, s)
}

// round checks the iteration and its β.
func (f *fileCheck) round(row *relabel.ExportRow, s *relabel.ExportSpan) {
	round := sourceRound{f.source.number, s.Iteration}
	sum := f.sumsOf[round]
	for _, w := range row.Weights[s.Start:s.End()] {
		sum.weight += float64(w)
	}
	sum.labels, sum.tokens = sum.labels+1, sum.tokens+int64(s.Length)
	f.sumsOf[round] = sum
	it := f.source.iteration(s.Iteration)
	if it == nil {
		f.reject(row, "spans", "the span of %s belongs to iteration %d, which the manifest lacks", labelName(s), s.Iteration)
		return
	}
	var want *float32
	if it.beta != nil {
		want = new(float32(*it.beta))
	}
	if !same(s.Beta, want) {
		f.reject(row, "spans", "the span of %s has the beta %s; in the manifest iteration %d has %s", labelName(s), shown(s.Beta), s.Iteration, shown(want))
	}
}

// spanWeights compares the weights of a span's tokens with the span's own weight and the recipe's.
func (f *fileCheck) spanWeights(row *relabel.ExportRow, s *relabel.ExportSpan) {
	own := row.Weights[s.Start:s.End()]
	differs := slices.ContainsFunc(own, func(w float32) bool { return math.Float32bits(w) != math.Float32bits(own[0]) })
	switch {
	case s.Weight == nil && !differs:
		f.reject(row, "spans", "the span of %s has no weight, but all its tokens have the weight %v", labelName(s), own[0])
	case s.Weight != nil && (differs || !same(s.Weight, &own[0])):
		f.reject(row, "spans", "the span of %s has the weight %v, which differs from its tokens' weights", labelName(s), *s.Weight)
	}
	if want := f.recipeWeights(s.Length, s.Iteration); want != nil && (differs || !slices.Contains(want, own[0])) {
		f.reject(row, "weights", "the label %s has other weights than %v, which the label rule and %s give each of its %d tokens", labelName(s), want, *f.manifest.Normalisation, s.Length)
	}
}

// recipeWeights returns the weights that each token of a label may have if the recipe has w(s, a) = 1
// (paper, table 2), by the label rule of an iteration, or with 0 of any. nil: not known.
func (f *fileCheck) recipeWeights(tokens, iteration int) (all []float32) {
	share := 1.0
	switch n := f.manifest.Normalisation; {
	case n == nil || !slices.Contains([]relabel.Recipe{relabel.SFT, relabel.DAgger, relabel.AggreVaTe}, f.source.recipe):
		return nil
	case *n == relabel.PerTransition:
		share = float64(tokens)
	case *n != relabel.PerToken:
		return nil
	}
	for _, w := range f.source.weights(iteration) {
		all = append(all, float32(float64(float32(w))/share))
	}
	return all
}

// same reports whether two nullable numbers are equal, bit for bit.
func same(a, b *float32) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Float32bits(*a) == math.Float32bits(*b)
}

func shown(v *float32) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}
