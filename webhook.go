package relabel

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// Webhook receives the ends of a run's iterations and exports and its automatic pauses.
type Webhook struct {
	URL    string `json:"url" maxLength:"2000" doc:"Address that receives the deliveries: http or https."`
	Secret string `json:"secret,omitempty" maxLength:"1000" doc:"NAME of the secret that signs deliveries (a letter, then at most 39 letters, digits, hyphens or underscores), never the secret; empty: they are not signed."`
}

// Validate returns a CodeInvalid error on the first wrong field of w, or nil. It does not
// restrict the address: that is the operator's choice.
func (w Webhook) Validate() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return Errorf(CodeInvalid, "is not an http or https address; write https://HOST/PATH").On("webhook.url")
	case holdsCredential(u):
		return Errorf(CodeInvalid, "contains a credential; name a secret instead, which signs the deliveries").On("webhook.url")
	case u.Fragment != "":
		return Errorf(CodeInvalid, "contains a fragment, which is never sent").On("webhook.url")
	}
	return CheckSecretName("webhook.secret", w.Secret)
}

// Site is the public configuration of this installation.
type Site struct {
	URL     string   // of the REST interface, as receivers of webhooks reach it
	Webhook *Webhook // default for runs without one; nil: none
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending"   // it will be sent or retried
	DeliveryDelivered DeliveryState = "delivered" // the receiver confirmed it
	DeliveryFailed    DeliveryState = "failed"    // all tries failed
)

// Delivery is a message to a webhook, sent at least once.
type Delivery struct {
	ID        ID              `json:"id" doc:"Its id, the webhook-id header of every attempt."`
	RunID     ID              `json:"run_id" doc:"The run."`
	Type      string          `json:"type" doc:"iteration.done, iteration.cancelled, export.done, export.failed or run.paused."`
	Payload   json.RawMessage `json:"payload" doc:"The request body."`
	State     DeliveryState   `json:"state" doc:"pending, delivered or failed."`
	Tries     int             `json:"tries" doc:"Number of tries."`
	URL       string          `json:"url,omitempty" doc:"Address of the last try."`
	Status    *int            `json:"status,omitempty" doc:"HTTP status of the last try; 0 without an answer."`
	Answer    string          `json:"answer,omitempty" doc:"Beginning of the last answer, or why there was none."`
	TriedAt   *time.Time      `json:"tried_at,omitempty" doc:"When the last try began."`
	NextAt    *time.Time      `json:"next_at,omitempty" doc:"When the next try begins; absent unless the last one failed."`
	CreatedAt time.Time       `json:"created_at" doc:"When it happened."`
	EndedAt   *time.Time      `json:"ended_at,omitempty" doc:"When it was delivered or failed."`
}

// DeliveryTry is the result of one try.
type DeliveryTry struct {
	URL    string
	Status int           // HTTP status; 0 without an answer
	Answer string        // beginning of the answer, or why there was none
	State  DeliveryState // of the delivery after the try
	Pause  time.Duration // until the next try of a pending delivery
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
	EventRun        EventSubject = "run"        // it was paused or resumed
	EventIteration  EventSubject = "iteration"  // its state changed
	EventTrajectory EventSubject = "trajectory" // its state changed
	EventExport     EventSubject = "export"     // its state changed
)

// Event is a committed change of state. Events of one subject are in the order of the
// changes.
type Event struct {
	Number       int64        `json:"number" doc:"Its number, which is its id in the event stream. Later events have larger ones."`
	At           time.Time    `json:"at" doc:"When it happened."`
	Subject      EventSubject `json:"subject" doc:"What changed: run, iteration, trajectory or export."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  *ID          `json:"iteration_id,omitempty" doc:"The iteration, in events of iterations and trajectories."`
	TrajectoryID *ID          `json:"trajectory_id,omitempty" doc:"The trajectory, in events of trajectories."`
	ExportID     *ID          `json:"export_id,omitempty" doc:"The export, in events of exports."`
	State        string       `json:"state" doc:"The new state; of a run: paused or resumed."`
}

// EventScope selects events: every id that is set must be the event's. The zero scope selects
// all.
type EventScope struct {
	RunID        ID
	IterationID  ID
	TrajectoryID ID
}

// Has reports whether the scope selects e.
func (s EventScope) Has(e Event) bool {
	return (s.RunID == ID{} || s.RunID == e.RunID) &&
		(s.IterationID == ID{} || e.IterationID != nil && s.IterationID == *e.IterationID) &&
		(s.TrajectoryID == ID{} || e.TrajectoryID != nil && s.TrajectoryID == *e.TrajectoryID)
}

// WebhookStore reads a run's usage and its deliveries.
type WebhookStore interface {
	// FindSpent returns what a run's calls have used.
	FindSpent(ctx context.Context, run ID) (Spent, error)
	// ListDeliveries lists a run's deliveries, newest first. Redeliver sends one again:
	// CodeConflict if the run has no webhook.
	ListDeliveries(ctx context.Context, run ID, p Page) (deliveries []Delivery, next string, err error)
	Redeliver(ctx context.Context, run, delivery ID) (Delivery, error)
}

// EventStore numbers and lists events.
type EventStore interface {
	// PublishEvents numbers the committed events and returns the last number. Events that are
	// committed later get larger numbers.
	PublishEvents(ctx context.Context) (last int64, err error)
	// ListEvents lists a scope's events after a number, in the order of their numbers.
	ListEvents(ctx context.Context, scope EventScope, after int64, limit int) ([]Event, error)
	// KeepsEvents reports whether all events after this number are still stored.
	KeepsEvents(ctx context.Context, number int64) (bool, error)
	// ListenEvents calls heard, which must not block, once it is listening and whenever there may
	// be new events, until ctx ends or the connection is lost.
	ListenEvents(ctx context.Context, heard func()) error
}
