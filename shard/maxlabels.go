package shard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"relabel"
)

// partSize returns the stored text of one part of an export, in bytes. An export with a number of
// labels is one part, because only all labels together say which ones it has.
func (x *Exporter) partSize(e relabel.Export) int64 {
	if e.Form.MaxLabels > 0 {
		return math.MaxInt64
	}
	return x.partBytes
}

// limit leaves exactly the form's number of labels in the only part of an export: those of whole
// trajectories in an order drawn by the run's seed; of the last one, the first labels that there is
// room for. The others are excluded. CodeInvalid if there are fewer labels.
func (x *Exporter) limit(ctx context.Context, e relabel.Export, part relabel.ExportPart, b *selector, all []*labelled) error {
	room := e.Form.MaxLabels
	for _, at := range drawOrder(b.run.Seed, all) {
		kept := len(all[at].keep)
		switch {
		case kept <= room:
		case room == 0:
			all[at].dropAll()
		default:
			one := part
			one.Trajectories = []relabel.PartTrajectory{partOf(part, all[at])}
			cut, err := x.labelSome(ctx, e, one, b, slices.Sorted(maps.Keys(all[at].keep))[room:])
			if err != nil {
				return err
			}
			all[at], kept = cut, len(cut.keep)
		}
		room -= min(room, kept)
	}
	if room > 0 {
		return relabel.Errorf(relabel.CodeInvalid, "the selection has %d labelled states, fewer than max_labels (%d): collect more, or select more of them", e.Form.MaxLabels-room, e.Form.MaxLabels).On("max_labels")
	}
	return nil
}

// labelSome selects a trajectory's labels again, without those of surplus turns.
func (x *Exporter) labelSome(ctx context.Context, e relabel.Export, one relabel.ExportPart, b *selector, surplus []int) (cut *labelled, err error) {
	some := *b
	some.surplus = surplus
	for tr, readErr := range x.Store.ExportTrajectories(ctx, e.Selection, one) {
		if readErr != nil {
			return nil, readErr
		}
		if cut, err = some.label(tr); err != nil {
			return nil, err
		}
	}
	if cut == nil {
		return nil, fmt.Errorf("trajectory %s was not read again", one.Trajectories[0].ID)
	}
	return cut, nil
}

// partOf is the trajectory of l as it was when the export was cut.
func partOf(part relabel.ExportPart, l *labelled) relabel.PartTrajectory {
	is := func(p relabel.PartTrajectory) bool { return p.ID == l.Trajectory.ID }
	if at := slices.IndexFunc(part.Trajectories, is); at >= 0 {
		return part.Trajectories[at]
	}
	return relabel.PartTrajectory{ID: l.Trajectory.ID}
}

// dropAll excludes every exported label of the trajectory.
func (l *labelled) dropAll() {
	for _, t := range slices.Sorted(maps.Keys(l.keep)) {
		l.exclude(t, OverMaxLabels, "")
	}
	l.roots, l.text = nil, 0
}

// drawOrder returns the indices of trajectories in an order drawn by seed. It depends neither on ids
// nor on the order of all.
func drawOrder(seed int64, all []*labelled) []int {
	keys := make([][]byte, len(all))
	order := make([]int, len(all))
	for i, l := range all {
		text := fmt.Sprintf("relabel/max-labels %d %q %d", l.Iteration.Number, l.Task.InstanceID, l.Trajectory.Generation)
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(text), uint64(seed)))
		keys[i], order[i] = sum[:], i
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	return order
}
