package shard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"relabel"
)

// weights describes the weights of the students of all exported iterations, by source. Only checks before the export was requested
// count, so that a repeated step writes the same.
func (x *Exporter) weights(ctx context.Context, e relabel.Export, sources []sourceSummary) ([]relabel.ProvenanceWeights, error) {
	all := []relabel.ProvenanceWeights{}
	for n, source := range sources {
		selection := e.Source(n).Selection
		if selection.Conversations != nil {
			continue
		}
		run, err := x.Store.FindRun(ctx, selection.RunID)
		if err != nil {
			return nil, err
		}
		checks, err := x.Store.ExportWeightChecks(ctx, run.ID, run.Recipe.DefaultKind(), e.CreatedAt)
		if err != nil {
			return nil, err
		}
		for _, it := range source.Iterations {
			w := studentWeights(run.ID, it, checks[it.Number])
			known := func(o relabel.ProvenanceWeights) bool { return o.Run == w.Run && o.Iteration == w.Iteration }
			if !slices.ContainsFunc(all, known) { // sources may share iterations
				all = append(all, w)
			}
		}
	}
	return all, nil
}

func studentWeights(run relabel.ID, it iterationSummary, checks []relabel.WeightCheck) relabel.ProvenanceWeights {
	w := relabel.ProvenanceWeights{Run: run.String(), Iteration: it.Number, Policy: it.Student.ID.String(), Model: it.Student.Model, Checks: []relabel.ProvenanceCheck{}}
	if loaded := it.Student.Weights; loaded != nil {
		w.Loaded = &relabel.ProvenanceLoaded{Kind: loaded.Kind, SHA256: loaded.SHA256}
	}
	for _, c := range checks {
		w.Checks = append(w.Checks, c.Provenance())
	}
	return w
}

// Round names a run and an iteration of it.
func (c card) Round(w relabel.ProvenanceWeights) string {
	name := w.Run
	for _, r := range c.Provenance.Runs {
		if r.ID == w.Run {
			name = nameText(r.Name)
		}
	}
	return fmt.Sprintf("%s, %d", name, w.Iteration)
}

// fingerprintsText lists the distinct fingerprints of all checks.
func fingerprintsText(w relabel.ProvenanceWeights) string {
	var hashes []string
	for _, c := range w.Checks {
		for _, f := range c.Fingerprints {
			if text := shortHash(f); !slices.Contains(hashes, text) {
				hashes = append(hashes, text)
			}
		}
	}
	if len(hashes) == 0 {
		return "**not checked**"
	}
	return strings.Join(hashes, ", ")
}

// doubtsText lists the doubts of all checks, and which of them were allowed.
func doubtsText(w relabel.ProvenanceWeights) string {
	var doubts []string
	for _, c := range w.Checks {
		for _, d := range c.Doubts {
			text := string(d)
			if slices.Contains(c.Allowed, d) {
				text += " (allowed)"
			}
			if !slices.Contains(doubts, text) {
				doubts = append(doubts, text)
			}
		}
	}
	if len(doubts) == 0 {
		return "none"
	}
	return strings.Join(doubts, ", ")
}
