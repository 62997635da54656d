package shard

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
)

// failTime bounds the write that says an export failed.
const failTime = 30 * time.Second

// Worker runs export jobs. A job that cannot succeed fails its export at once. One whose
// destination is away, or full, waits for it as long as it takes, and the export says so.
// Another is tried again by the queue, and fails its export at the last try.
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
	err := w.exporter.Step(ctx, job.Args)
	if err != nil && ctx.Err() != nil { // stopped from outside: no fault of the export
		return river.JobSnooze(time.Second)
	}
	code := relabel.CodeOf(err)
	switch {
	case err == nil:
		return nil
	case job.Args.Step == relabel.ClearExport:
		w.exporter.Log.Warn().Err(err).Stringer("export", job.Args.ExportID).Msg("files of an export that is over are not removed yet")
		return err
	case code == relabel.CodeUnavailable:
		w.waits(ctx, job.Args.ExportID, err)
		return river.JobSnooze(waitPeriod)
	case !hopelessCode(code) && job.Attempt < job.MaxAttempts:
		w.waits(ctx, job.Args.ExportID, err)
		return err
	}
	return w.fail(ctx, job.Args.ExportID, err)
}

// waits notes why an export waits. That is to be seen and changes nothing: where it
// cannot be noted, the export waits all the same.
func (w *Worker) waits(ctx context.Context, id relabel.ID, why error) {
	ctx, cancel := context.WithTimeout(ctx, failTime)
	defer cancel()
	news, err := w.exporter.Store.ExportWaits(ctx, id, safeReason(why))
	log := w.exporter.Log.Debug()
	if news || err != nil {
		log = w.exporter.Log.Warn()
	}
	log.Err(errors.Join(why, err)).Stringer("export", id).Msg("export waits")
}

func (w *Worker) fail(ctx context.Context, id relabel.ID, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTime)
	defer cancel()
	level := zerolog.WarnLevel
	if shown := new(relabel.Error); !errors.As(why, &shown) {
		level = zerolog.ErrorLevel // nothing else says why
	}
	w.exporter.Log.WithLevel(level).Err(why).Stringer("export", id).Msg("export failed")
	err := errors.Join(why, w.exporter.Store.FailExport(ctx, id, safeReason(why)))
	if hopelessCode(relabel.CodeOf(why)) {
		return river.JobCancel(err)
	}
	return err
}

// hopelessCode reports whether trying again cannot help.
func hopelessCode(code relabel.Code) bool {
	return code == relabel.CodeInvalid || code == relabel.CodeConflict || code == relabel.CodeNotFound || code == relabel.CodeAddressRefused
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
