package relabel

// RolloutJob wakes a worker that has a slot free: something is to be claimed. What that
// is, the worker asks when it is awake; so a job names no trajectory.
type RolloutJob struct{}

// Kind names the job in the queue.
func (RolloutJob) Kind() string { return "rollout" }

// ExportJob is the queue's job for one export.
type ExportJob struct {
	ExportID ID `json:"export_id"`
}

// Kind names the job in the queue.
func (ExportJob) Kind() string { return "export" }
