package shard

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// failTime bounds the write that says an export failed.
const failTime = 30 * time.Second

// Worker runs export jobs. A job that cannot succeed fails its export at once; one that
// might is tried again by the queue, and fails its export at the last try.
type Worker struct {
	river.WorkerDefaults[relabel.ExportJob]
	exporter *Exporter
}

// NewWorker returns the queue's worker for exports.
func NewWorker(x *Exporter) river.Worker[relabel.ExportJob] { return &Worker{exporter: x} }

// Timeout lets an export take as long as it takes.
func (w *Worker) Timeout(*river.Job[relabel.ExportJob]) time.Duration { return -1 }

// Work does one step of an export.
func (w *Worker) Work(ctx context.Context, job *river.Job[relabel.ExportJob]) error {
	id := job.Args.ExportID
	err := w.exporter.Step(ctx, job.Args)
	if err != nil && ctx.Err() != nil { // stopped from outside: no fault of the export
		return river.JobSnooze(time.Second)
	}
	hopeless := hopelessCode(relabel.CodeOf(err))
	if err == nil || (!hopeless && job.Attempt < job.MaxAttempts) || job.Args.Step == relabel.ClearExport {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTime)
	defer cancel()
	err = errors.Join(err, w.exporter.Store.FailExport(ctx, id, safeReason(err)))
	if hopeless {
		return river.JobCancel(err)
	}
	return err
}

// hopelessCode reports whether trying again cannot help.
func hopelessCode(code relabel.Code) bool {
	return code == relabel.CodeInvalid || code == relabel.CodeConflict || code == relabel.CodeNotFound
}

// safeReason is what of an error may be shown.
func safeReason(err error) string {
	var e *relabel.Error
	if !errors.As(err, &e) {
		return "the export could not be built; the log says why"
	}
	shown := *e
	shown.Cause = nil
	return shown.Error()
}
