package verify

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"relabel"
)

// source is what the manifest says of a source of labels. An export without a mix has one.
type source struct {
	number        int
	recipe        relabel.Recipe
	conversations bool // not of a run: any opening, and tools that differ
	iterations    []sourceIteration
	tools         odds // of messages rows
}

type sourceIteration struct {
	number  int
	beta    *float64
	weights []float64 // that labels may have before the normalisation
	factor  float64
}

// newSources returns the sources of an export.
func newSources(m *relabel.Manifest) (all []*source) {
	if m.Mix == nil || len(m.Mix.Sources) == 0 {
		return []*source{onlySource(m)}
	}
	for n, of := range m.Mix.Sources {
		s := &source{number: n, recipe: of.Recipe, conversations: of.Selection.Conversations != nil}
		for _, it := range of.Iterations {
			factor := it.Factor
			if m.Mix.Sampled {
				factor = 1
			}
			s.iterations = append(s.iterations, sourceIteration{it.Iteration, it.Beta, weightsOf(it.LabelRule.Rule), factor})
		}
		all = append(all, s)
	}
	return all
}

// onlySource is the source of an export without a mix. Manifests of earlier versions have no label rules: the
// teacher was asked at every state.
func onlySource(m *relabel.Manifest) *source {
	s := &source{recipe: m.Recipe}
	for i, number := range m.Iterations {
		it := sourceIteration{number: number, weights: []float64{1}, factor: 1}
		if i < len(m.Beta) {
			it.beta = m.Beta[i]
		}
		if m.LabelRules != nil && i < len(m.LabelRules) {
			it.weights = weightsOf(m.LabelRules[i].Rule)
		}
		s.iterations = append(s.iterations, it)
	}
	return s
}

// iteration returns an iteration of the source, nil if it has none of this number.
func (s *source) iteration(number int) *sourceIteration {
	i := slices.IndexFunc(s.iterations, func(it sourceIteration) bool { return it.number == number })
	if i < 0 {
		return nil
	}
	return &s.iterations[i]
}

// weights are those that labels of an iteration may have before the normalisation, or with iteration 0 those
// of all iterations.
func (s *source) weights(iteration int) (all []float64) {
	for _, it := range s.iterations {
		if iteration == 0 || iteration == it.number {
			for _, w := range it.weights {
				all = append(all, w*it.factor)
			}
		}
	}
	return all
}

// sourceOf returns the source of a file's rows: each part has rows of one source, and file k of part p of P has
// the number k·P + p.
func (c *check) sourceOf(file string) *source {
	mix := c.manifest.Mix
	if mix == nil || mix.Parts < 1 || len(mix.Sources) == 0 {
		return c.sources[0]
	}
	name, _, _ := strings.Cut(path.Base(file), ".")
	number, err := strconv.Atoi(name)
	if err != nil || number < 0 {
		return c.sources[0]
	}
	part := number % mix.Parts
	for n, of := range mix.Sources {
		if part -= of.Parts; part < 0 {
			return c.sources[n]
		}
	}
	return c.sources[len(c.sources)-1]
}

// checkMix checks the sums of a mix.
func (c *check) checkMix() {
	m := c.manifest.Mix
	if m == nil {
		return
	}
	if len(m.Sources) == 0 {
		c.complain("the mix has no sources")
	}
	states, parts, weight := 0, 0, 0.0
	excluded := map[string]int{}
	for n, s := range m.Sources {
		states, parts, weight = states+s.States, parts+s.Parts, weight+s.Weight
		for reason, count := range s.Excluded {
			excluded[reason] += count
		}
		labels := 0
		for _, it := range s.Iterations {
			labels += it.Labels
		}
		if labels != s.States {
			c.complain("source %d of the mix has %d states, but its iterations have %d labels", n, s.States, labels)
		}
		if m.Unique && s.Compared != nil && s.Compared.Duplicates != s.Excluded["duplicate"] {
			c.complain("source %d of the mix has %d duplicates, but %d are excluded", n, s.Compared.Duplicates, s.Excluded["duplicate"])
		}
	}
	if states != c.manifest.States {
		c.complain("states is %d, but the sources of the mix have %d", c.manifest.States, states)
	}
	if parts != m.Parts {
		c.complain("the mix has %d parts, but its sources have %d", m.Parts, parts)
	}
	for reason, count := range c.manifest.Excluded {
		if excluded[reason] != count {
			c.complain("excluded has %d for %s, but the sources of the mix have %d", count, reason, excluded[reason])
		}
	}
	for n, s := range m.Sources {
		if weight > 0 && math.Abs(s.Share-s.Weight/weight) > 1e-9 {
			c.complain("the share of source %d of the mix is %v, but its weight is %v of %v", n, s.Share, s.Weight, weight)
		}
	}
}

// checkWeightSums compares the sums of weights that the manifest gives for a mix with those of a token view.
func (c *check) checkWeightSums(view relabel.View, v *viewState) {
	if c.manifest.Mix == nil || v.broken || v.bare || view == relabel.ViewMessages {
		return
	}
	for n, s := range c.manifest.Mix.Sources {
		for _, it := range s.Iterations {
			got := v.sumsOf[sourceRound{n, it.Iteration}]
			if got.labels != it.Labels || got.tokens != it.SupervisedTokens || math.Abs(got.weight-it.Weight) > 1e-6*math.Max(1, math.Abs(it.Weight)) {
				c.complain("iteration %d of source %d of the mix has %d labels, %d tokens and the weight %v, but %s has %d, %d and %v",
					it.Iteration, n, it.Labels, it.SupervisedTokens, it.Weight, view, got.labels, got.tokens, got.weight)
			}
		}
	}
}

// sourceRound is an iteration of a source.
type sourceRound struct{ source, iteration int }

// roundSums are sums over the labels of an iteration in a view.
type roundSums struct {
	labels int
	tokens int64
	weight float64
}
