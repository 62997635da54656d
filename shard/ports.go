// Package shard turns labelled trajectories into data sets that trainers read.
package shard

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"relabel"
)

// Store is the state of exports in the database.
type Store interface {
	FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error)
	FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error)
	FindTaskset(ctx context.Context, id relabel.ID) (relabel.Taskset, error)
	// ExportImages returns the digests of images, by name, of those that are known.
	ExportImages(ctx context.Context, images []string) (map[string]string, error)
	// ExportBenchmarks lists the named benchmarks and the exclusion lists, by name, with the number of the given tasks that
	// each reserves.
	ExportBenchmarks(ctx context.Context, tasks []relabel.ID) ([]relabel.ProvenanceBenchmark, error)
	// ExportWeightChecks returns the checks of the weights of a run's iterations of a kind before a time, by iteration number,
	// the oldest first.
	ExportWeightChecks(ctx context.Context, run relabel.ID, kind relabel.IterationKind, before time.Time) (map[int][]relabel.WeightCheck, error)
	// CutExport moves an export from queued to running, divides the selected trajectories
	// into parts of about partBytes of stored text, ordered by iteration number, instance ID
	// and generation, and queues a job for each part. Repeating it changes nothing. All ended
	// trajectories (done, failed or cancelled) are selected, since the exporter decides and
	// records which are excluded; held-out tasks and evaluations are never selected.
	// CodeNotFound if an iteration does not exist, CodeConflict if one is still running.
	CutExport(ctx context.Context, id relabel.ID, partBytes int64) error
	// SignExportPart stores the signatures of a part's labels; the last part queues the comparison.
	SignExportPart(ctx context.Context, id relabel.ID, part int, signatures []byte) error
	// ExportSignatures yields the signatures of each part, in order.
	ExportSignatures(ctx context.Context, id relabel.ID) iter.Seq2[[]byte, error]
	// FinishComparison stores what the comparison counted of each source and excludes of each part, and queues
	// the parts.
	FinishComparison(ctx context.Context, id relabel.ID, counts []relabel.ComparedLabels, dropped map[int][]relabel.DroppedLabel) error
	FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error)
	// ExportTrajectories yields the trajectories of a part, one at a time in memory.
	// CodeConflict if one has changed since the export was cut.
	ExportTrajectories(ctx context.Context, sel relabel.ExportSelection, part relabel.ExportPart) iter.Seq2[relabel.ExportTrajectory, error]
	// SaveExportFile records a finished file of a part. Repeating it changes nothing.
	SaveExportFile(ctx context.Context, id relabel.ID, part int, f relabel.ExportFile) error
	// FinishExportPart records that a part is finished; the last part queues the final step.
	FinishExportPart(ctx context.Context, id relabel.ID, part int, summary json.RawMessage, excluded []byte) error
	// ExportParts yields the finished parts in order, each with its files sorted by path, so
	// that the manifest does not depend on who finished first.
	ExportParts(ctx context.Context, id relabel.ID) iter.Seq2[relabel.FinishedPart, error]
	// FinishExport moves an export from running to done with its directory, its counts and
	// the files that belong to no part. FailExport moves it to failed with a reason that is
	// safe to show.
	FinishExport(ctx context.Context, e relabel.Export) error
	FailExport(ctx context.Context, id relabel.ID, reason string) error
	// ExportWaits records why an export waits, and since when, until it makes progress. It
	// reports whether this reason is new.
	ExportWaits(ctx context.Context, id relabel.ID, reason string) (news bool, err error)
	// ReportPush records that a push runs, with the bytes that were sent, of those of all files, and ends a recorded wait. It
	// reports whether the push is open: neither cancelled nor over.
	ReportPush(ctx context.Context, export relabel.ID, number int, sent, of int64) (open bool, err error)
	// FinishPush moves an open push to done with its place, FailPush to failed with a reason that is safe to show. Both ignore
	// one that is over.
	FinishPush(ctx context.Context, export relabel.ID, number int, place string) error
	FailPush(ctx context.Context, export relabel.ID, number int, reason string) error
	// PushWaits records why an open push waits, and reports whether this reason is new.
	PushWaits(ctx context.Context, export relabel.ID, number int, reason string) (news bool, err error)
}
