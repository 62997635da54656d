package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"relabel"
	"relabel/shard/outfile"
)

// buildPart writes the files of one part, except those that an earlier attempt finished.
func (x *Exporter) buildPart(ctx context.Context, e relabel.Export, number int) (err error) {
	part, err := x.Store.FindExportPart(ctx, e.ID, number)
	if err != nil || part.Done {
		return err
	}
	if err := x.checkWritable(ctx, e); err != nil { // fail now rather than after minutes of rendering
		return err
	}
	b, err := x.openSelector(ctx, e, part)
	if err != nil {
		return err
	}
	if e.Form.Tokens() {
		if b.student, b.model, err = x.openStudent(ctx, e.Form); err != nil {
			return err
		}
	}
	d := &drawn{seed: b.run.Seed, limit: e.Form.MaxLabels}
	all, err := x.labelAll(ctx, part, b, d)
	if err == nil {
		err = x.cutLast(ctx, part, b, d, all)
	}
	if err != nil {
		return err
	}
	out, err := x.newOutput(ctx, e, part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.scratch.remove()) }()
	figures, err := out.write(ctx, b, all)
	if err != nil {
		return err
	}
	summary, err := json.Marshal(summarize(b, all, figures))
	if err != nil {
		return err
	}
	var excluded bytes.Buffer
	for _, l := range all {
		if err := writeExcluded(&excluded, l.excluded); err != nil {
			return err
		}
	}
	return x.Store.FinishExportPart(ctx, e.ID, number, summary, excluded.Bytes())
}

// labelAll reads the trajectories of a part and selects their labels, several at a time. d drops those that
// there is no room for.
func (x *Exporter) labelAll(ctx context.Context, part relabel.ExportPart, b *selector, d *drawn) ([]*labelled, error) {
	var all []*labelled
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for tr, err := range x.Store.ExportTrajectories(working, b.sel, part) {
		if err != nil {
			return nil, errors.Join(work.Wait(), err)
		}
		at := len(all)
		l := new(labelled)
		all = append(all, l)
		work.Go(func() error {
			done, err := b.label(tr, b.dropped[at])
			if err != nil {
				return err
			}
			*l = *done
			d.add(l)
			return nil
		})
	}
	return all, work.Wait()
}

// output writes the files of a part: they are built in a scratch folder, then moved to the
// export's storage.
type output struct {
	exporter *Exporter
	export   relabel.Export
	part     relabel.ExportPart
	at       storage
	scratch  *scratch
	done     map[string]outfile.File // by path: files that an earlier attempt finished
}

func (x *Exporter) newOutput(ctx context.Context, e relabel.Export, part relabel.ExportPart) (*output, error) {
	at, err := x.storage(e)
	if err != nil {
		return nil, err
	}
	o := &output{exporter: x, export: e, part: part, at: at, done: map[string]outfile.File{}}
	for _, f := range part.Files {
		size, err := at.size(ctx, f.Path)
		if err != nil {
			return nil, err
		}
		if size == f.Bytes {
			o.done[f.Path] = outfile.File(f)
		}
	}
	o.scratch, err = newScratch(x.Root, e.ID)
	return o, err
}

// put moves a file from the scratch folder to the storage and records it.
func (o *output) put(ctx context.Context, f relabel.ExportFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := o.at.put(ctx, f.Path, o.scratch.path(f.Path)); err != nil {
		return err
	}
	_ = os.Remove(o.scratch.path(f.Path)) // gone already if the storage is a folder, which renames it
	return o.exporter.Store.SaveExportFile(ctx, o.export.ID, o.part.Number, f)
}

// write writes all views of the part, on all processor cores.
func (o *output) write(ctx context.Context, b *selector, all []*labelled) (map[relabel.View]viewFigures, error) {
	work, ctx := errgroup.WithContext(ctx)
	p := part{Number: o.part.Number, First: o.part.Number, Step: o.export.Parts, Done: o.done, Cores: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		Put: func(f outfile.File) error { return o.put(ctx, relabel.ExportFile(f)) }}
	for _, l := range all {
		p.Roots = append(p.Roots, l.roots...)
	}
	views := o.export.Form.Views
	written := make([]viewFigures, len(views))
	var reading sync.Mutex // views of text take turns to read trajectories, so that a part needs one connection for it
	for i, view := range views {
		work.Go(func() (err error) {
			if !view.HasIDs() {
				reading.Lock()
				defer reading.Unlock()
			}
			written[i], err = o.writeView(ctx, view, b, all, p)
			return folderError(err)
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	figures := map[relabel.View]viewFigures{}
	for i, view := range views {
		figures[view] = written[i]
	}
	return figures, nil
}

func (o *output) writeView(ctx context.Context, view relabel.View, b *selector, all []*labelled, p part) (viewFigures, error) {
	f := o.export.Form
	v := tokenViews{Recipe: b.run.Recipe, Capacity: f.Capacity, Longest: f.MaxLength, Bare: f.Bare, Pad: f.PadTree, DataParallel: f.Divide, Version: o.exporter.Version}
	if b.student != nil {
		v.PadID = b.student.PadID
	}
	switch view {
	case relabel.ViewMessages:
		return o.writeMessages(ctx, b, all, p)
	case relabel.ViewPreference:
		return o.writePreferences(ctx, b, all, v.Version, p)
	case relabel.ViewChat, relabel.ViewPromptCompletion:
		return o.writeText(ctx, view, b, all, v, p)
	}
	return v.write(ctx, view, o.scratch.dir, p)
}

// writeMessages writes the messages view, reading the trajectories again.
func (o *output) writeMessages(ctx context.Context, b *selector, all []*labelled, p part) (viewFigures, error) {
	if b.student != nil {
		p.Done = nil // these files contain token weights, but do not record the tokenizer
	}
	next, stop := iter.Pull2(o.exporter.Store.ExportTrajectories(ctx, b.sel, o.part))
	defer stop()
	return writeMessages(ctx, o.scratch.dir, newMessagesRows(b, all, next), o.exporter.Version, p)
}
