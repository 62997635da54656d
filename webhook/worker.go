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

// Pauses are those before the second try, the third, and so on: a day in all. The store
// gives a job one try more than there are pauses.
var Pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

const (
	sendLimit   = 15 * time.Second // of a try, from the connection to the answer's last byte
	recordLimit = 10 * time.Second // of writing down what came of it
)

// Config is what deliveries are made with.
type Config struct {
	Store Store
	// Secret returns a secret's value by its name; CodeSecretMissing where there is none.
	Secret func(name string) (string, error)
	Pauses []time.Duration  // between tries; nil: Pauses
	Now    func() time.Time // by the queue's clock; nil: time.Now
	// Transport connects to receivers; nil: the default one.
	Transport http.RoundTripper
	Log       zerolog.Logger
	Version   string
}

// Worker delivers.
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
		// The address is the operator's choice; where it would lead on to is not.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// NextRetry spreads the tries, so that receivers that were away are not met by all that
// waited at once.
func (w *Worker) NextRetry(job *river.Job[relabel.DeliveryJob]) time.Time {
	return w.Now().Add(w.pause(job.Attempt))
}

// pause is what lies between a try and the next.
func (w *Worker) pause(try int) time.Duration {
	base := w.Pauses[min(max(try, 1), len(w.Pauses))-1]
	return base + time.Duration(rand.Int64N(int64(base)/10+1))
}

// Work tries a delivery once. The queue tries again what fails, after NextRetry; what is
// hopeless is given up.
func (w *Worker) Work(ctx context.Context, job *river.Job[relabel.DeliveryJob]) error {
	id := job.Args.DeliveryID
	d, hook, err := w.Store.FindDelivery(ctx, id)
	switch {
	case relabel.CodeOf(err) == relabel.CodeNotFound:
		return river.JobCancel(err)
	case err != nil:
		return err
	case d.State != relabel.DeliveryPending:
		return nil // another job has done it
	}
	try, failed := w.send(ctx, d, hook)
	if failed != nil && ctx.Err() != nil { // this process stops: no fault of the receiver
		return river.JobSnooze(0)
	}
	if try.State == relabel.DeliveryPending && job.Attempt >= job.MaxAttempts {
		try.State = relabel.DeliveryFailed
	}
	if try.State == relabel.DeliveryPending {
		try.Pause = w.Pauses[min(job.Attempt, len(w.Pauses))-1]
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
