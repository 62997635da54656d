package relabel

// RolloutJob wakes a worker that has a slot free: something is to be claimed. What that
// is, the worker asks when it is awake; so a job names no trajectory.
type RolloutJob struct{}

// Kind names the job in the queue.
func (RolloutJob) Kind() string { return "rollout" }

// ExportJob is the queue's job for one step of an export.
type ExportJob struct {
	ExportID ID         `json:"export_id"`
	Step     ExportStep `json:"step"`
	Part     int        `json:"part"` // of BuildPart; else 0
}

// ExportStep is what is to be done for an export.
type ExportStep string

// The steps, in their order. The last one is for an export that was cancelled or failed.
const (
	CutExport    ExportStep = "cut"    // into parts
	BuildPart    ExportStep = "build"  // one part's files
	FinishExport ExportStep = "finish" // README and manifest, when all parts are there
	ClearExport  ExportStep = "clear"  // remove what was written
)

// Kind names the job in the queue.
func (ExportJob) Kind() string { return "export" }

// RelabelJob wakes a worker: a relabeling is to be claimed. Which, it asks when it is
// awake.
type RelabelJob struct{}

// Kind names the job in the queue.
func (RelabelJob) Kind() string { return "relabel" }

// LabelBatchJob wakes a worker: a batch of labels is due to be sent or looked after.
type LabelBatchJob struct{}

// Kind names the job in the queue.
func (LabelBatchJob) Kind() string { return "label_batch" }
