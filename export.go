package relabel

import "time"

// ExportState is where an export stands.
type ExportState string

// The states of an export.
const (
	ExportQueued  ExportState = "queued"
	ExportRunning ExportState = "running"
	ExportDone    ExportState = "done"
	ExportFailed  ExportState = "failed"
)

// ExportSelection says which labelled states leave. Held-out tasks, attempts that
// were given up, and evaluations never do.
type ExportSelection struct {
	RunID      ID   `json:"run_id"`
	Iteration  int  `json:"iteration"`  // 0: the latest done one
	Aggregated bool `json:"aggregated"` // D1 ∪ … ∪ Di (eq. 3) instead of iteration i alone
	Submitted  bool `json:"submitted"`  // only valid submissions (paper F.2)
	Resolved   bool `json:"resolved"`   // only resolved ones (rejection sampling)
	// LabelPolicyID is whose labels leave in the place of the run's teacher's: those that a
	// relabeling asked for. nil: the teacher's.
	LabelPolicyID *ID `json:"label_policy_id,omitempty"`
}

// Export is a data set built from chosen trajectories.
type Export struct {
	ID        ID              `json:"id"`
	Selection ExportSelection `json:"selection"`
	View      string          `json:"view"` // messages
	State     ExportState     `json:"state"`
	Directory string          `json:"directory"`
	Rows      int             `json:"rows"`
	LeftOut   map[string]int  `json:"left_out"` // by reason
	Failure   string          `json:"failure,omitempty"`
	Files     []ExportFile    `json:"files"`
	CreatedAt time.Time       `json:"created_at"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
}

// ExportFile is one file of an export.
type ExportFile struct {
	Path   string `json:"path"` // relative to the export's directory
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Rows   int    `json:"rows"`
}

// ExportTrajectory is a trajectory as an export reads it.
type ExportTrajectory struct {
	Trajectory Trajectory
	Iteration  Iteration
	Teacher    Policy // whose labels the turns have
	Student    Policy
	Task       Task
	Turns      []Turn
}
