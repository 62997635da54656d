package verify

import (
	"fmt"
	"regexp"
	"slices"

	"relabel"
)

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// The values of fields about weights.
var (
	weightOccasions = []relabel.WeightOccasion{relabel.WeightsAtStart, relabel.WeightsAtResume, relabel.WeightsInBetween}
	weightResults   = []relabel.WeightResult{relabel.WeightsChecked, relabel.WeightsDoubted, relabel.WeightsNotChecked}
	weightKinds     = []relabel.WeightsKind{relabel.WeightsAdapter, relabel.WeightsCheckpoint}
)

// checkWeights checks the form of provenance.weights, and that they name each iteration once with its student.
func (c *check) checkWeights(p relabel.ManifestProvenance) {
	if p.Weights == nil {
		return // an earlier version
	}
	bad := func(format string, a ...any) {
		c.refuse("manifest", manifestName, "", "provenance.weights "+format, a...)
	}
	named := map[string]string{} // student by run and iteration
	for i, w := range p.Weights {
		round := fmt.Sprintf("%s, iteration %d", w.Run, w.Iteration)
		if _, twice := named[round]; twice {
			bad("name the run %s twice", round)
		}
		named[round] = w.Policy
		if !slices.ContainsFunc(p.Runs, func(r relabel.ProvenanceRun) bool { return r.ID == w.Run }) {
			bad("[%d] name the run %s, which provenance.runs lacks", i, w.Run)
		}
		if !slices.ContainsFunc(p.Policies, func(q relabel.ProvenancePolicy) bool { return q.ID == w.Policy && q.Model == w.Model }) {
			bad("[%d] name the policy %s with the model %q, which provenance.policies lacks", i, w.Policy, w.Model)
		}
		if l := w.Loaded; l != nil && (!slices.Contains(weightKinds, l.Kind) || !hashForm.MatchString(l.SHA256)) {
			bad("[%d].loaded is not adapter or checkpoint with a SHA-256", i)
		}
		for j, of := range w.Checks {
			if problem := checkProblem(of); problem != "" {
				bad("[%d].checks[%d] %s", i, j, problem)
			}
		}
	}
	lacks := func(run string, iteration int, student string) {
		if round := fmt.Sprintf("%s, iteration %d", run, iteration); named[round] != student {
			bad("lack the student of the run %s", round)
		}
	}
	for i, number := range c.manifest.Iterations {
		if i < len(c.manifest.Selection.Students) {
			lacks(c.manifest.Run, number, c.manifest.Selection.Students[i])
		}
	}
	if c.manifest.Mix == nil {
		return
	}
	for _, source := range c.manifest.Mix.Sources {
		for _, it := range source.Iterations {
			if source.Selection.Conversations == nil {
				lacks(source.Run, it.Iteration, it.Student)
			}
		}
	}
}

// checkProblem returns what is wrong with a check of weights, "" if nothing is.
func checkProblem(of relabel.ProvenanceCheck) string {
	switch {
	case !slices.Contains(weightOccasions, of.Occasion):
		return fmt.Sprintf("has the occasion %q: start, resume or running is meant", of.Occasion)
	case !slices.Contains(weightResults, of.Result):
		return fmt.Sprintf("has the result %q: checked, doubted or not_checked is meant", of.Result)
	case of.At.IsZero():
		return "has no time"
	case (of.Result == relabel.WeightsDoubted) != (len(of.Doubts) > 0):
		return fmt.Sprintf("is %s with %d doubts", of.Result, len(of.Doubts))
	}
	for _, hash := range of.Fingerprints {
		if !hashForm.MatchString(hash) {
			return fmt.Sprintf("has the fingerprint %.80q, which is not a SHA-256 in lower-case hex", hash)
		}
	}
	for _, d := range of.Doubts {
		if !slices.Contains(relabel.WeightDoubts, d) {
			return fmt.Sprintf("has the unknown doubt %q", d)
		}
	}
	for _, d := range of.Allowed {
		if !slices.Contains(of.Doubts, d) {
			return fmt.Sprintf("allows %q, which is not among its doubts", d)
		}
	}
	return ""
}
