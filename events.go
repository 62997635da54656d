package relabel

import "time"

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
