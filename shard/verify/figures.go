package verify

import (
	"math"
	"slices"

	"relabel"
)

// checkFigures compares the manifest's totals with the counted ones.
func (c *check) checkFigures() {
	for _, view := range relabel.AllViews {
		if v := c.views[view]; v != nil {
			c.checkLabels(view, v)
			c.checkWeightSums(view, v)
			c.checkBins(v)
			c.checkParts(v)
			c.report.Rendered += v.renderedTokens
			c.report.Labels += v.renderedLabels
		}
	}
	c.checkTrajectories()
	c.checkMix()
	c.checkPreferences()
	c.checkTokenFields()
	c.checkRecipeFields()
	c.checkTooLong()
	c.checkFill()
	c.checkRatio()
	c.checkStudent()
	for _, odd := range c.headers.rest() {
		c.refuse("header", odd.file, odd.row, "the header of %s %d differs from that of most leaves", odd.what, odd.number)
	}
	for _, s := range c.sources {
		for _, odd := range s.tools.rest() {
			c.refuse("messages", odd.file, odd.row, "its tools differ from those of most rows")
		}
	}
}

// complain records a problem of the manifest.
func (c *check) complain(format string, a ...any) {
	c.refuse("manifest", manifestName, "", format, a...)
}

// checkLabels compares a view's number of labels with the manifest's.
func (c *check) checkLabels(view relabel.View, v *viewState) {
	m := &c.manifest
	if v.broken || v.bare && !c.isText(view) {
		return
	}
	if v.Labels != m.States {
		c.complain("states is %d, but %s has %d labels", m.States, view, v.Labels)
	}
	if c.dialect() == relabel.DialectWeight && view == relabel.ViewChat {
		return // its rows do not name their trajectories
	}
	if len(v.owners) != m.Trajectories.Count {
		c.complain("trajectories has the count %d, but %s has labels of %d", m.Trajectories.Count, view, len(v.owners))
	}
	if view == relabel.ViewMessages || v.bare {
		return
	}
	if v.servedLabels != m.Served {
		c.complain("served is %d, but %s has %d labels with served ids", m.Served, view, v.servedLabels)
	}
	for _, s := range c.sources {
		var named, seen []int
		for _, it := range s.iterations {
			named = append(named, it.number)
		}
		for round := range v.sumsOf {
			if round.source == s.number {
				seen = append(seen, round.iteration)
			}
		}
		if slices.Sort(named); !slices.Equal(slices.Sorted(slices.Values(seen)), named) {
			c.complain("iterations is %v, but %s has labels of %v", named, view, seen)
		}
	}
}

// checkTrajectories compares the sums of the manifest's counts of trajectories and of their states.
func (c *check) checkTrajectories() {
	t := c.manifest.Trajectories
	if sum := sumOf(t.Executors); sum != c.manifest.States {
		c.complain("trajectories counts %d states by executor, but states is %d", sum, c.manifest.States)
	}
	if sum := sumOf(t.Verdicts); sum != t.Count {
		c.complain("trajectories has %d verdicts and the count %d", sum, t.Count)
	}
	if sum := sumOf(t.Kappas); sum > t.Count {
		c.complain("trajectories has %d values of kappa and the count %d", sum, t.Count)
	}
}

// sumOf adds up counts.
func sumOf[K comparable](counts map[K]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// checkTokenFields checks that fields of token views are present exactly if there is a token
// view.
func (c *check) checkTokenFields() {
	m := &c.manifest
	tokens := len(c.tokenViews()) > 0 || c.views[relabel.ViewPreference] != nil
	if tokens != (m.Capacity != nil) || tokens != (m.Tokenizer != nil) || tokens != (m.Template != nil) || tokens != (m.Normalisation != nil) || tokens != (m.DeduplicationRatio != nil) {
		c.complain("capacity, tokenizer, template, normalisation and deduplication_ratio must be present if and only if there is a token view")
	}
	if n := m.Normalisation; n != nil && *n != relabel.PerToken && *n != relabel.PerTransition {
		c.complain("unknown normalisation %q", *n)
	}
	if m.MaxLabels > 0 && m.States != m.MaxLabels {
		c.complain("max_labels is %d, but the export has %d labelled states", m.MaxLabels, m.States)
	}
	if len(m.Beta) != len(m.Iterations) {
		c.complain("there are %d iterations and %d betas", len(m.Iterations), len(m.Beta))
	}
	c.checkLabelRules()
	for view, v := range c.views {
		want := alignments[view]
		if v.bare {
			want = ""
		}
		if got := m.LossMask[string(view)]; got != want {
			c.complain("loss_mask of %s is %q, expected %q", view, got, want)
		}
	}
	for view := range m.LossMask {
		if c.views[relabel.View(view)] == nil {
			c.complain("loss_mask names %s, which the export does not have", view)
		}
	}
}

// checkTooLong checks the counts of labels over the maximum length. Exports of older versions
// have none.
func (c *check) checkTooLong() {
	long, m := c.manifest.TooLong, &c.manifest
	if long == nil {
		return
	}
	if got, want := long.Labels(), m.Excluded["too_long"]; got != want {
		c.complain("too_long counts %d labels, excluded has %d", got, want)
	}
	if long.TrunksCut > long.LabelsCut || long.TrunksDropped > long.LabelsDropped || long.TrunksCut == 0 && long.LabelsCut > 0 || long.TrunksDropped == 0 && long.LabelsDropped > 0 {
		c.complain("too_long has %d trunks truncated with %d labels and %d dropped with %d: each trunk loses at least one label", long.TrunksCut, long.LabelsCut, long.TrunksDropped, long.LabelsDropped)
	}
}

// near reports whether two figures differ by rounding only.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

// checkFill computes how full the bins are and compares it with the manifest.
func (c *check) checkFill() {
	m := &c.manifest
	for _, view := range []relabel.View{relabel.ViewPacked, relabel.ViewTree} {
		v, said := c.views[view], m.Fill[string(view)]
		_, there := m.Fill[string(view)]
		if there != (v != nil) {
			c.complain("fill must contain %s if and only if the export has this view", view)
		}
		if v == nil || v.broken || m.Capacity == nil {
			continue
		}
		want := 1.0
		if v.Rows > 0 {
			want = float64(v.Tokens-v.padding) / (float64(*m.Capacity) * float64(v.Rows))
		}
		if !near(said, want) {
			c.complain("fill of %s is %v, computed %v", view, said, want)
		}
	}
	for view := range m.Fill {
		if view != string(relabel.ViewPacked) && view != string(relabel.ViewTree) {
			c.complain("fill contains %s, which has no bins", view)
		}
	}
}

// checkRatio computes the ratio of the tokens of sequences to those of trees. A split tree has its
// trunk in each part, so if trees may be split, only bounds are known.
func (c *check) checkRatio() {
	trees, said := c.views[relabel.ViewTree], c.manifest.DeduplicationRatio
	sequences := c.views[relabel.ViewLinear]
	if sequences == nil {
		sequences = c.views[relabel.ViewPacked]
	}
	if trees == nil || sequences == nil || said == nil || trees.broken || sequences.broken || c.manifest.Capacity == nil {
		return
	}
	var most, least int64
	for _, t := range trees.trees {
		most += t.tokens
		if t.tokens <= int64(*c.manifest.Capacity) {
			least += t.tokens
		} else {
			least += t.largest
		}
	}
	low, high := float64(sequences.Tokens)/float64(most), float64(sequences.Tokens)/float64(least)
	if !near(*said, low) && !near(*said, high) && (*said < low || *said > high) {
		c.complain("deduplication_ratio is %v, computed %v", *said, low)
	}
}

// checkStudent compares the tokenizer and the template with the manifest's.
func (c *check) checkStudent() {
	s, t, p := c.Student, c.manifest.Tokenizer, c.manifest.Template
	if s == nil || t == nil || p == nil {
		return
	}
	for _, f := range []struct {
		what, said, is string
	}{{"tokenizer.sha256", t.SHA256, s.Tokens.SHA256()}, {"template.sha256", p.SHA256, s.TemplateSHA256}, {"tokenizer.stop", t.Stop, s.Stop}, {"template.arguments", string(p.Arguments), string(s.Arguments)}} {
		if f.said != f.is {
			c.complain("%s is %q; the given tokenizer and template have %q", f.what, f.said, f.is)
		}
	}
	if t.StopID != s.StopID || t.PadID != s.PadID {
		c.complain("stop_id and pad_id are %d and %d; the given tokenizer and template have %d and %d", t.StopID, t.PadID, s.StopID, s.PadID)
	}
}
