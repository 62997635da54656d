package shard

import (
	"context"

	"relabel"
)

// sourceSummary is the sum of the parts of one source.
type sourceSummary struct {
	summary
	parts int
}

func newSourceSummaries(n int) []sourceSummary {
	all := make([]sourceSummary, n)
	for i := range all {
		all[i].summary = newSummary()
	}
	return all
}

func (s *sourceSummary) add(part relabel.FinishedPart) error {
	s.parts++
	return s.merge(part.Summary)
}

// manifestMix describes the sources of a mix, and what each gave.
func (x *Exporter) manifestMix(ctx context.Context, e relabel.Export, sources []sourceSummary) (*relabel.ManifestMix, error) {
	m := &relabel.ManifestMix{LabelsPerTask: e.Mix.LabelsPerTask, Unique: e.Mix.Unique, Sampled: e.Mix.Sampled}
	total := 0.0
	for n := range sources {
		source, err := x.manifestSource(ctx, e, n, &sources[n])
		if err != nil {
			return nil, err
		}
		total += source.Weight
		m.Parts += source.Parts
		m.Sources = append(m.Sources, source)
	}
	for n := range m.Sources {
		if total > 0 {
			m.Sources[n].Share = m.Sources[n].Weight / total
		}
	}
	return m, nil
}

func (x *Exporter) manifestSource(ctx context.Context, e relabel.Export, n int, sum *sourceSummary) (relabel.ManifestSource, error) {
	source := e.Source(n)
	run, err := x.sourceRun(ctx, source)
	if err != nil {
		return relabel.ManifestSource{}, err
	}
	m := relabel.ManifestSource{Run: run.Name, Recipe: run.Recipe, Selection: source.Selection, Weights: source.Weights,
		Parts: sum.parts, States: sum.States, Excluded: sum.Excluded, Iterations: []relabel.ManifestIteration{}}
	if source.Selection.Conversations == nil {
		m.Run = run.ID.String()
	}
	if n < len(e.Compared) {
		m.Compared = &e.Compared[n]
	}
	for _, it := range sum.Iterations {
		m.Teacher = it.Teacher.ID.String()
		m.Weight += it.Weight
		m.Iterations = append(m.Iterations, relabel.ManifestIteration{Iteration: it.Number, Student: it.Student.ID.String(), Beta: it.Beta, Rho: it.Rho,
			LabelRule: manifestRule(it.Rule), Factor: source.Weights.Of(relabel.Iteration{Number: it.Number, Beta: it.Beta}, source.Selection.Iteration),
			Labels: it.Labels, SupervisedTokens: it.Supervised, Weight: it.Weight})
	}
	return m, nil
}
