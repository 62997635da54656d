package webhook

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"relabel"
)

// Pauses precede the second attempt, the third, and so on: a day in all. The store gives a job one
// attempt more than there are pauses.
var Pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

const (
	sendLimit   = 15 * time.Second // of an attempt, from the connection to the answer's last byte
	recordLimit = 10 * time.Second // of storing the result
)

// Config has the settings of a Worker.
type Config struct {
	Store Store
	// Secret returns a secret's value by its name; CodeSecretMissing if there is none.
	Secret func(name string) (string, error)
	Pauses []time.Duration  // between attempts; nil means Pauses
	Now    func() time.Time // the queue's clock; nil means time.Now
	// Transport connects to receivers; nil means the default one.
	Transport http.RoundTripper
	Log       zerolog.Logger
	Version   string
}

// Worker sends deliveries.
type Worker struct {
	river.WorkerDefaults[relabel.DeliveryJob]
	Config
	client *http.Client
}

// NewWorker returns the queue's worker for deliveries.
func NewWorker(config Config) *Worker {
	if config.Pauses == nil {
		config.Pauses = Pauses
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Worker{Config: config, client: &http.Client{
		Timeout:   sendLimit,
		Transport: config.Transport,
		// The operator chose this address, but not the ones to which it redirects.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// NextRetry adds jitter to the pause, so that waiting deliveries do not reach a receiver that is back
// all at once.
func (w *Worker) NextRetry(job *river.Job[relabel.DeliveryJob]) time.Time {
	pause := w.pause(job.Attempt)
	return w.Now().Add(pause + time.Duration(rand.Int64N(int64(pause)/10+1)))
}

// pause is the time between an attempt and the next.
func (w *Worker) pause(attempt int) time.Duration {
	return w.Pauses[min(max(attempt, 1), len(w.Pauses))-1]
}

// Work makes one attempt at a delivery. The queue retries a failed one after NextRetry, unless
// retries cannot help.
func (w *Worker) Work(ctx context.Context, job *river.Job[relabel.DeliveryJob]) error {
	id := job.Args.DeliveryID
	d, hook, err := w.Store.FindDelivery(ctx, id)
	switch {
	case relabel.CodeOf(err) == relabel.CodeNotFound:
		return river.JobCancel(err)
	case err != nil:
		return err
	case d.State != relabel.DeliveryPending:
		return nil // another job has delivered it
	}
	try, failed := w.send(ctx, d, hook)
	if failed != nil && ctx.Err() != nil { // this process stops; the receiver did not fail
		return river.JobSnooze(0)
	}
	if try.State == relabel.DeliveryPending && job.Attempt >= job.MaxAttempts {
		try.State = relabel.DeliveryFailed
	}
	if try.State == relabel.DeliveryPending {
		try.Pause = w.pause(job.Attempt)
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	if err := w.Store.RecordDelivery(writing, id, try); err != nil {
		return err
	}
	line := w.Log.Info()
	if failed != nil {
		line = w.Log.Warn().AnErr("cause", failed)
	}
	line.Stringer("delivery", id).Str("type", d.Type).Int("status", try.Status).Str("state", string(try.State)).Msg("webhook")
	if try.State == relabel.DeliveryFailed {
		return river.JobCancel(failed)
	}
	return failed
}
