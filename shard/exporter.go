package shard

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"relabel"
	"relabel/shard/parquet"
)

// messagesView is the view of one row a labelled state.
const messagesView = "messages"

// Config is what an Exporter works with. All fields but Log and Version are needed.
type Config struct {
	Store   Store
	Root    string // folder in which each export gets one, named by its id
	Log     zerolog.Logger
	Version string // of relabel, written into the files
}

// Exporter builds data sets. It is safe for concurrent use.
type Exporter struct{ Config }

// NewExporter returns an Exporter that writes below config.Root.
func NewExporter(config Config) *Exporter { return &Exporter{config} }

// Run builds the export and moves it to done. It may run again after a crash or beside
// itself: what is published stays as it is, and what is not is built anew and is never
// seen half. The same snapshot gives the same bytes. It leaves the export's state alone
// where it fails; Worker says what becomes of it then.
func (x *Exporter) Run(ctx context.Context, id relabel.ID) error {
	e, err := x.Store.FindExport(ctx, id)
	if err != nil {
		return err
	}
	if e.State == relabel.ExportDone {
		return nil
	}
	if e.View != messagesView {
		return relabel.Errorf(relabel.CodeInvalid, "there is no view %q", e.View).On("view")
	}
	if err := x.Store.StartExport(ctx, id); err != nil {
		return err
	}
	begin := time.Now()
	e.Directory = filepath.Join(x.Root, id.String())
	if err := x.publish(ctx, e); err != nil {
		return err
	}
	if e.Rows, e.LeftOut, e.Files, err = describe(e.Directory); err != nil {
		return err
	}
	x.Log.Info().Stringer("export", id).Int("rows", e.Rows).Dur("took", time.Since(begin)).Msg("export done")
	return x.Store.FinishExport(ctx, e)
}

// build writes a whole export into dir.
func (x *Exporter) build(ctx context.Context, e relabel.Export, dir string) error {
	run, err := x.Store.FindRun(ctx, e.Selection.RunID)
	if err != nil {
		return err
	}
	left, err := newLeftOut(filepath.Join(dir, leftOutName))
	if err != nil {
		return err
	}
	defer left.file.Close()
	b := &builder{run: run, sel: e.Selection, left: left, tools: string(relabel.AppendTools(nil, run.Prompts.Tools)),
		out: parquet.NewWriter[messagesRow](dir, parquet.Layout{View: messagesView, LossMask: "none"}, x.Version)}
	defer b.out.Abort()
	for tr, err := range x.Store.ExportTrajectories(ctx, e.Selection) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.trajectory(tr)
		}
		if err != nil {
			return err
		}
	}
	files, err := b.out.Close()
	if err != nil {
		return err
	}
	if err := left.close(); err != nil {
		return err
	}
	m := newManifest(run, e.Selection, b.from, files, left.counts)
	if m.rows() == 0 {
		return emptyExport(left.counts)
	}
	return finishFolder(dir, run, b.from, m)
}

// emptyExport refuses a data set without a row: a trainer would find out hours later.
func emptyExport(left map[string]int) error {
	if len(left) == 0 {
		return relabel.Errorf(relabel.CodeConflict, "there is no labelled state in these iterations")
	}
	return relabel.Errorf(relabel.CodeConflict, "every labelled state was left out: %s", countsText(left))
}

// builder turns trajectories into rows.
type builder struct {
	run   relabel.Run
	sel   relabel.ExportSelection
	tools string
	left  *leftOut
	out   *parquet.Writer[messagesRow]
	from  provenance
}

// trajectory writes the rows of one trajectory, and says what it leaves out.
func (b *builder) trajectory(tr relabel.ExportTrajectory) error {
	id, instance := tr.Trajectory.ID, tr.Task.InstanceID
	if reason := leaveTrajectory(b.sel, tr); reason != "" {
		return b.left.add(leftOutLine{Reason: reason, Trajectory: id, InstanceID: instance, States: len(tr.Turns), Detail: string(tr.Trajectory.Failure)})
	}
	state := openState(b.run.Prompts.Opening(tr.Task))
	for i, turn := range tr.Turns {
		if turn.T != i+1 {
			return fmt.Errorf("trajectory %s: turn %d stands where turn %d should", id, turn.T, i+1)
		}
		reason, detail := leaveLabel(turn.Label)
		var row messagesRow
		if reason == "" {
			row = messagesRow{RowID: fmt.Sprintf("%s/%d", id, turn.T), Messages: state.json(), Tools: b.tools, Label: labelText(turn.T, turn.Label.Message)}
			reason = leaveRow(row)
		}
		if reason != "" {
			if err := b.left.add(leftOutLine{Reason: reason, Trajectory: id, InstanceID: instance, Turn: &turn.T, States: 1, Detail: detail}); err != nil {
				return err
			}
		} else {
			b.from.add(tr)
			if err := b.out.Write(row, parquet.Size{Bytes: row.size()}); err != nil {
				return err
			}
		}
		state = state.advance(turn)
	}
	return nil
}
