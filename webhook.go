package relabel

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// Webhook is where a run says that an iteration or an export is over, or that it was
// paused by itself.
type Webhook struct {
	URL    string `json:"url" doc:"Where to."`
	Secret string `json:"secret,omitempty" doc:"Name of the secret that signs; never the secret."`
}

// Validate reports the first thing wrong with w as a CodeInvalid error on its field.
// Where the address leads is the operator's choice.
func (w Webhook) Validate() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Errorf(CodeInvalid, "is no http or https address; write https://HOST/PATH").On("webhook.url")
	case holdsCredential(u):
		return Errorf(CodeInvalid, "holds a credential; name a secret instead, whose signature shows who sends").On("webhook.url")
	case u.Fragment != "":
		return Errorf(CodeInvalid, "holds a fragment, which is never sent").On("webhook.url")
	}
	return CheckSecretName("webhook.secret", w.Secret)
}

// Site is what others are told of this relabel.
type Site struct {
	URL     string   // of the REST interface, as receivers of webhooks reach it
	Webhook *Webhook // of runs that have none of their own; nil: none
}

// DeliveryState is where a delivery stands.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending"   // it will be tried, or tried again
	DeliveryDelivered DeliveryState = "delivered" // the receiver said that it has it
	DeliveryFailed    DeliveryState = "failed"    // it is given up
)

// Delivery is something that a webhook is told, at least once.
type Delivery struct {
	ID        ID              `json:"id" doc:"Its id: the webhook-id, the same at every try."`
	RunID     ID              `json:"run_id" doc:"The run."`
	Type      string          `json:"type" doc:"iteration.done, iteration.cancelled, export.done, export.failed or run.paused."`
	Payload   json.RawMessage `json:"payload" doc:"The body that is sent."`
	State     DeliveryState   `json:"state" doc:"pending, delivered or failed."`
	Tries     int             `json:"tries" doc:"How often it was sent."`
	URL       string          `json:"url,omitempty" doc:"Where the last try went."`
	Status    *int            `json:"status,omitempty" doc:"HTTP status of the last try; 0 where no answer came."`
	Answer    string          `json:"answer,omitempty" doc:"The beginning of the last answer, or why there was none."`
	TriedAt   *time.Time      `json:"tried_at,omitempty" doc:"When it was last tried."`
	NextAt    *time.Time      `json:"next_at,omitempty" doc:"When it is tried next, after a try that failed."`
	CreatedAt time.Time       `json:"created_at" doc:"When it happened."`
	EndedAt   *time.Time      `json:"ended_at,omitempty" doc:"When it was delivered or given up."`
}

// DeliveryTry is what came of one try.
type DeliveryTry struct {
	URL    string
	Status int           // HTTP status; 0 where no answer came
	Answer string        // the beginning of the answer, or why there was none
	State  DeliveryState // what the delivery is after it
	Pause  time.Duration // until the next try, of one that is pending
}

// DeliveryJob is the queue's job for one delivery.
type DeliveryJob struct {
	DeliveryID ID `json:"delivery_id"`
}

// Kind names the job in the queue.
func (DeliveryJob) Kind() string { return "webhook" }

// EventSubject says what an event is about.
type EventSubject string

// The subjects of events.
const (
	EventRun        EventSubject = "run"        // it is paused or goes on
	EventIteration  EventSubject = "iteration"  // its state changed
	EventTrajectory EventSubject = "trajectory" // its state changed
	EventExport     EventSubject = "export"     // its state changed
)

// Event is a change of state that is committed. Events of one subject are in the order
// of the changes.
type Event struct {
	Number       int64        `json:"number" doc:"Its number, which is the stream's id of it. Later ones are larger."`
	At           time.Time    `json:"at" doc:"When it happened."`
	Subject      EventSubject `json:"subject" doc:"What changed: run, iteration, trajectory or export."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  *ID          `json:"iteration_id,omitempty" doc:"The iteration, of iterations and trajectories."`
	TrajectoryID *ID          `json:"trajectory_id,omitempty" doc:"The trajectory, of trajectories."`
	ExportID     *ID          `json:"export_id,omitempty" doc:"The export, of exports."`
	State        string       `json:"state" doc:"What it became: one of its states; of a run, paused or resumed."`
}

// EventScope says which events are meant: of those that are set, all must be the
// event's. The zero scope means every event.
type EventScope struct {
	RunID        ID
	IterationID  ID
	TrajectoryID ID
}

// Has reports whether an event lies in the scope.
func (s EventScope) Has(e Event) bool {
	return (s.RunID == ID{} || s.RunID == e.RunID) &&
		(s.IterationID == ID{} || e.IterationID != nil && s.IterationID == *e.IterationID) &&
		(s.TrajectoryID == ID{} || e.TrajectoryID != nil && s.TrajectoryID == *e.TrajectoryID)
}

// WebhookStore tells what calls have used and what webhooks were sent.
type WebhookStore interface {
	// FindSpent returns what a run's calls have used.
	FindSpent(ctx context.Context, run ID) (Spent, error)
	// ListDeliveries lists what a run's webhook was told, newest first. Redeliver tells it
	// once more: CodeConflict where the run has no webhook.
	ListDeliveries(ctx context.Context, run ID, p Page) (deliveries []Delivery, next string, err error)
	Redeliver(ctx context.Context, run, delivery ID) (Delivery, error)
}

// EventStore numbers and lists events.
type EventStore interface {
	// PublishEvents gives each event that is committed its number and returns the last one;
	// what is committed later gets a larger one.
	PublishEvents(ctx context.Context) (last int64, err error)
	// ListEvents lists a scope's events after a number, in the order of their numbers.
	ListEvents(ctx context.Context, scope EventScope, after int64, limit int) ([]Event, error)
	// KeepsEvents reports whether all events after this number are still there.
	KeepsEvents(ctx context.Context, number int64) (bool, error)
	// ListenEvents calls heard, which does not block, when it listens and when there may be
	// new events, until ctx ends or the line is lost.
	ListenEvents(ctx context.Context, heard func()) error
}
