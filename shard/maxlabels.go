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
	"sync"

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

// drawn holds those trajectories of an export with a number of labels for which there may be room, in an
// order drawn by the run's seed. The others are dropped as soon as they are known. Trajectories may
// be read in any order.
type drawn struct {
	seed  int64
	limit int // labels; 0: all, and nothing is dropped

	mu     sync.Mutex
	order  []placed
	labels int // of all in order
}

// placed is a trajectory with its key in the order.
type placed struct {
	key []byte
	*labelled
}

// add adds a trajectory, and drops the last ones if those before them have enough labels.
func (d *drawn) add(l *labelled) {
	if d.limit == 0 || len(l.keep) == 0 {
		return
	}
	key := drawKey(d.seed, l)
	d.mu.Lock()
	defer d.mu.Unlock()
	at, _ := slices.BinarySearchFunc(d.order, key, func(p placed, key []byte) int { return bytes.Compare(p.key, key) })
	d.order = slices.Insert(d.order, at, placed{key, l})
	d.labels += len(l.keep)
	for last := d.last(); d.labels-len(last.keep) >= d.limit; last = d.last() {
		d.labels -= len(last.keep)
		last.dropAll()
		d.order = slices.Delete(d.order, len(d.order)-1, len(d.order))
	}
}

func (d *drawn) last() *labelled { return d.order[len(d.order)-1].labelled }

// cutLast leaves exactly the limit's number of labels in the only part of an export: all have been added, and of
// the last trajectory in the order, the first labels are kept that there is room for. CodeInvalid if there
// are fewer labels.
func (x *Exporter) cutLast(ctx context.Context, part relabel.ExportPart, b *selector, d *drawn, all []*labelled) error {
	surplus := d.labels - d.limit
	switch {
	case d.limit == 0 || surplus == 0:
		return nil
	case surplus < 0:
		return relabel.Errorf(relabel.CodeInvalid, "the selection has %d labelled states, fewer than max_labels (%d): collect more, or select more of them", d.labels, d.limit).On("max_labels")
	}
	turns := slices.Sorted(maps.Keys(d.last().keep))
	room := len(turns) - surplus
	at := slices.Index(all, d.last())
	part.Trajectories = part.Trajectories[at : at+1]
	cut, err := x.labelSome(ctx, part, b, turns[room:])
	if err != nil {
		return err
	}
	if len(cut.keep) != room {
		return fmt.Errorf("trajectory %s has %d labels without its last %d, expected %d", cut.Trajectory.ID, len(cut.keep), surplus, room)
	}
	all[at] = cut
	return nil
}

// labelSome selects a trajectory's labels again, without those of surplus turns.
func (x *Exporter) labelSome(ctx context.Context, one relabel.ExportPart, b *selector, surplus []int) (cut *labelled, err error) {
	dropped := map[int]Reason{}
	for _, t := range surplus {
		dropped[t] = OverMaxLabels
	}
	for tr, readErr := range x.Store.ExportTrajectories(ctx, b.sel, one) {
		if readErr != nil {
			return nil, readErr
		}
		if cut, err = b.label(tr, dropped); err != nil {
			return nil, err
		}
	}
	if cut == nil {
		return nil, fmt.Errorf("trajectory %s was not read again", one.Trajectories[0].ID)
	}
	return cut, nil
}

// dropAll excludes every exported label of the trajectory.
func (l *labelled) dropAll() {
	for _, t := range slices.Sorted(maps.Keys(l.keep)) {
		l.exclude(t, OverMaxLabels, "")
	}
	l.roots, l.text, l.loose = nil, 0, 0
	l.preferred, l.preferences = nil, relabel.PreferenceCounts{}
}

// drawKey is the place of a trajectory in the order that seed draws. It does not depend on ids.
func drawKey(seed int64, l *labelled) []byte {
	text := fmt.Sprintf("relabel/max-labels %d %q %d", l.Iteration.Number, l.Task.InstanceID, l.Trajectory.Generation)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(text), uint64(seed)))
	return sum[:]
}
