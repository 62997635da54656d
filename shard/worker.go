package shard

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
)

// failTime bounds the write that records a failure.
const failTime = 30 * time.Second

// Worker runs export jobs. An export fails at once if it cannot succeed. If its destination
// is unavailable or full, it waits indefinitely and records why. After other errors the queue
// retries, and the export fails with the last attempt.
type Worker struct {
	river.WorkerDefaults[relabel.ExportJob]
	exporter *Exporter
}

// NewWorker returns the queue's worker for exports.
func NewWorker(x *Exporter) river.Worker[relabel.ExportJob] { return &Worker{exporter: x} }

// Timeout disables the job timeout.
func (w *Worker) Timeout(*river.Job[relabel.ExportJob]) time.Duration { return -1 }

// Work runs one step of an export.
func (w *Worker) Work(ctx context.Context, job *river.Job[relabel.ExportJob]) error {
	err := w.exporter.Step(ctx, job.Args)
	if err != nil && ctx.Err() != nil { // shutdown is not a failure
		return river.JobSnooze(time.Second)
	}
	code := relabel.CodeOf(err)
	switch {
	case err == nil:
		return nil
	case job.Args.Step == relabel.ClearExport:
		w.exporter.Log.Warn().Err(err).Stringer("export", job.Args.ExportID).Msg("cannot remove the files of an ended export; will retry")
		return err
	case code == relabel.CodeUnavailable:
		w.recordWait(ctx, job.Args, err)
		return river.JobSnooze(waitPeriod)
	case !permanent(code) && job.Attempt < job.MaxAttempts:
		w.recordWait(ctx, job.Args, err)
		return err
	}
	return w.fail(ctx, job.Args, err)
}

// recordWait records why an export, or a push of it, waits. The record is informational: it waits even
// if writing it fails.
func (w *Worker) recordWait(ctx context.Context, job relabel.ExportJob, why error) {
	ctx, cancel := context.WithTimeout(ctx, failTime)
	defer cancel()
	record := func() (bool, error) { return w.exporter.Store.ExportWaits(ctx, job.ExportID, safeReason(why)) }
	if job.Step == relabel.PushExport {
		record = func() (bool, error) { return w.exporter.Store.PushWaits(ctx, job.ExportID, job.Part, safeReason(why)) }
	}
	news, err := record()
	log := w.exporter.Log.Debug()
	if news || err != nil {
		log = w.exporter.Log.Warn()
	}
	log.Err(errors.Join(why, err)).Stringer("export", job.ExportID).Str("step", string(job.Step)).Msg("export waits")
}

func (w *Worker) fail(ctx context.Context, job relabel.ExportJob, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTime)
	defer cancel()
	level := zerolog.WarnLevel
	if shown := new(relabel.Error); !errors.As(why, &shown) {
		level = zerolog.ErrorLevel // the cause is shown nowhere else
	}
	w.exporter.Log.WithLevel(level).Err(why).Stringer("export", job.ExportID).Str("step", string(job.Step)).Msg("export failed")
	record := func() error { return w.exporter.Store.FailExport(ctx, job.ExportID, safeReason(why)) }
	if job.Step == relabel.PushExport {
		record = func() error { return w.exporter.Store.FailPush(ctx, job.ExportID, job.Part, safeReason(why)) }
	}
	err := errors.Join(why, record())
	if permanent(relabel.CodeOf(why)) {
		return river.JobCancel(err)
	}
	return err
}

// permanent reports whether retrying cannot help.
func permanent(code relabel.Code) bool {
	return code == relabel.CodeInvalid || code == relabel.CodeConflict || code == relabel.CodeNotFound || code == relabel.CodeAddressRefused
}

// safeReason returns the part of an error that is safe to show.
func safeReason(err error) string {
	var e *relabel.Error
	if !errors.As(err, &e) {
		return "the export could not be built or pushed; see the log"
	}
	shown := *e
	shown.Cause = nil
	return shown.Error()
}
