package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"relabel"
)

// mixing is what a mix says about the labels of a part's source.
type mixing struct {
	weights relabel.LabelWeights
	sampled bool
	seed    int64                  // of the export's own run
	dropped map[int]map[int]Reason // by trajectory in the part and turn: what the comparison excludes
}

// openSelector returns the selector of a part's source, without a student.
func (x *Exporter) openSelector(ctx context.Context, e relabel.Export, part relabel.ExportPart) (*selector, error) {
	source := e.Source(part.Source)
	run, err := x.sourceRun(ctx, source)
	if err != nil {
		return nil, err
	}
	b := &selector{run: run, sel: source.Selection, form: e.Form, scan: x.scan}
	if e.Mix == nil {
		return b, nil
	}
	b.seed = run.Seed
	if part.Source > 0 {
		own, err := x.Store.FindRun(ctx, e.Selection.RunID)
		if err != nil {
			return nil, err
		}
		b.seed = own.Seed
	}
	b.weights, b.sampled, b.dropped = source.Weights, e.Mix.Sampled, droppedOf(part)
	return b, nil
}

// sourceRun returns the run of a source. Conversations are as a run of recipe sft without prompts of its own.
func (x *Exporter) sourceRun(ctx context.Context, source relabel.MixSource) (relabel.Run, error) {
	if set := source.Selection.Conversations; set != nil {
		return relabel.Run{Name: set.Name, Recipe: relabel.SFT}, nil
	}
	return x.Store.FindRun(ctx, source.Selection.RunID)
}

// opening returns the messages before the first turn of a trajectory.
func (b *selector) opening(tr relabel.ExportTrajectory) []relabel.Message {
	if tr.Opening != nil {
		return tr.Opening
	}
	return b.run.Prompts.Opening(tr.Task)
}

// tools returns the tools of a trajectory.
func (b *selector) tools(tr relabel.ExportTrajectory) []relabel.Tool {
	if tr.Opening != nil {
		return tr.Tools
	}
	return b.run.Prompts.Tools
}

// droppedOf returns what the comparison excludes of a part.
func droppedOf(part relabel.ExportPart) map[int]map[int]Reason {
	dropped := map[int]map[int]Reason{}
	for _, d := range part.Dropped {
		if dropped[d.Trajectory] == nil {
			dropped[d.Trajectory] = map[int]Reason{}
		}
		dropped[d.Trajectory][d.Turn] = Reason(d.Reason)
	}
	return dropped
}

// checkMix returns CodeInvalid if the form cannot express a mix.
func checkMix(e relabel.Export) error {
	switch {
	case !e.Mix.Weighted():
		return nil
	case !e.Form.Tokens():
		return relabel.Errorf(relabel.CodeInvalid, "has weights other than 1, and only views of tokens have weights: add linear, packed or tree, or set mix.sampled").On("mix")
	case slices.Contains(e.Form.Views, relabel.ViewPreference):
		return relabel.Errorf(relabel.CodeInvalid, "has weights other than 1, and rows of the preference view have none: omit preference, or set mix.sampled").On("mix")
	case e.Form.Bare:
		return relabel.Errorf(relabel.CodeInvalid, "rows have no weights, and the mix has weights other than 1: set mix.sampled").On("bare")
	}
	return nil
}

// Bounds of the factor of an iteration's labels. Beyond them weights in the files, of single precision, would be infinite or lose
// their labels among the others' rounding.
const (
	leastFactor = 1e-6
	mostFactor  = 1e6
)

// checkFactor returns CodeInvalid if the labels of an iteration have a factor outside of its bounds.
func (b *selector) checkFactor(it relabel.Iteration) error {
	if f := b.factor(it); f < leastFactor || f > mostFactor {
		return relabel.Errorf(relabel.CodeInvalid, "multiplies the labels of iteration %d of run %s by %.3g: the product of all factors must be from %g to %g", it.Number, b.run.Name, f, leastFactor, mostFactor).On("mix")
	}
	return nil
}

// factor returns the factor of the weights of an iteration's labels.
func (b *selector) factor(it relabel.Iteration) float64 {
	if b.sampled {
		return 1
	}
	return b.weights.Of(it, b.sel.Iteration)
}

// excludeSampled returns why a label is excluded by sampling, or "". It does not depend on ids or on the order
// in which labels are read.
func (b *selector) excludeSampled(tr relabel.ExportTrajectory, turn int) Reason {
	if !b.sampled {
		return ""
	}
	text := fmt.Sprintf("relabel/sampled %q %d %q %d %d", b.run.Name, tr.Iteration.Number, tr.Task.InstanceID, tr.Trajectory.Generation, turn)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(text), uint64(b.seed)))
	draw := float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53) // uniform in [0, 1)
	if draw < b.weights.Of(tr.Iteration, b.sel.Iteration) {
		return ""
	}
	return NotSampled
}

// signPart signs the exported labels of a part, for the comparison with those of other parts.
func (x *Exporter) signPart(ctx context.Context, e relabel.Export, number int) error {
	part, err := x.Store.FindExportPart(ctx, e.ID, number)
	if err != nil {
		return err
	}
	b, err := x.openSelector(ctx, e, part)
	if err != nil {
		return err
	}
	var signed bytes.Buffer
	at := 0
	for tr, err := range x.Store.ExportTrajectories(ctx, b.sel, part) {
		if err != nil {
			return err
		}
		if err := b.sign(&signed, at, tr); err != nil {
			return err
		}
		at++
	}
	return x.Store.SignExportPart(ctx, e.ID, number, signed.Bytes())
}

// compare counts labels that several trajectories have, decides which are excluded, and queues the parts.
func (x *Exporter) compare(ctx context.Context, e relabel.Export) error {
	run, err := x.Store.FindRun(ctx, e.Selection.RunID)
	if err != nil {
		return err
	}
	c := newComparison(*e.Mix, run.Seed, e.Sources())
	number := 0
	for signed, err := range x.Store.ExportSignatures(ctx, e.ID) {
		if err != nil {
			return err
		}
		part, err := x.Store.FindExportPart(ctx, e.ID, number)
		if err != nil {
			return err
		}
		if err := c.add(number, part.Source, signed); err != nil {
			return err
		}
		number++
	}
	return x.Store.FinishComparison(ctx, e.ID, c.counts, c.decide())
}
