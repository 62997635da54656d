// Package shard turns labelled trajectories into data sets that trainers read.
package shard

import (
	"context"
	"encoding/json"
	"iter"

	"relabel"
)

// Store is what an export reads and reports to.
type Store interface {
	FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	// CutExport moves queued to running and cuts what is selected into parts of about
	// partBytes of stored text, in the order of iteration number, instance id and
	// generation, and queues a job for each; again, it changes nothing. All that is over
	// (done, failed or cancelled) is selected: what is left out, and why, is the exporter's
	// to say. Held-out tasks and evaluations never are. CodeNotFound where there is no such
	// iteration, CodeConflict where one is still running.
	CutExport(ctx context.Context, id relabel.ID, partBytes int64) error
	FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error)
	// ExportTrajectories yields the trajectories of a part, one at a time in memory.
	// CodeConflict where one is no more as it was when the export was cut.
	ExportTrajectories(ctx context.Context, sel relabel.ExportSelection, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error]
	// SaveExportFile notes a finished file of a part; again, it changes nothing.
	SaveExportFile(ctx context.Context, id relabel.ID, part int, f relabel.ExportFile) error
	// FinishExportPart says that a part is there; the last one queues the export's end.
	FinishExportPart(ctx context.Context, id relabel.ID, part int, summary json.RawMessage, leftOut []byte) error
	// ExportParts yields what the end of an export needs of its parts, in order, the files
	// of each by path: the manifest has them so, whichever worker noted which first.
	ExportParts(ctx context.Context, id relabel.ID) iter.Seq2[relabel.FinishedPart, error]
	// FinishExport moves running to done with its directory, counts and the files of no
	// part; FailExport to failed with a reason that is safe to show.
	FinishExport(ctx context.Context, e relabel.Export) error
	FailExport(ctx context.Context, id relabel.ID, reason string) error
	// ExportWaits notes why an export waits, and since when, until it is further; it
	// returns whether it did not wait for this before.
	ExportWaits(ctx context.Context, id relabel.ID, reason string) (news bool, err error)
}
