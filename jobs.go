package relabel

// RolloutJob wakes a worker with a free slot to claim a trajectory. The job names none: the
// worker claims the first one in the queue's order. Tasks of each of the RolloutKinds have their own queue, so that
// a worker takes only those that it can roll out.
type RolloutJob struct {
	TaskKind TaskKind `json:"task_kind,omitempty"` // empty: to repair
}

// Kind names the job in the queue.
func (RolloutJob) Kind() string { return "rollout" }

// ExportJob is the queue's job for one step of an export.
type ExportJob struct {
	ExportID ID         `json:"export_id"`
	Step     ExportStep `json:"step"`
	Part     int        `json:"part"` // of SignPart and BuildPart; of PushExport the number of the push; else 0
}

// ExportStep is a step of building an export.
type ExportStep string

// The steps, in order. ClearExport is for an export that was cancelled or failed, PushExport for one that is done.
const (
	CutExport     ExportStep = "cut"     // into parts
	SignPart      ExportStep = "sign"    // sign one part's labels, if the labels of all parts are compared
	CompareExport ExportStep = "compare" // the signatures of all parts
	BuildPart     ExportStep = "build"   // one part's files
	FinishExport  ExportStep = "finish"  // README and manifest, once all parts are built
	ClearExport   ExportStep = "clear"   // remove the written files
	PushExport    ExportStep = "push"    // push the files to the Hugging Face Hub
)

// Kind names the job in the queue.
func (ExportJob) Kind() string { return "export" }

// RelabelJob wakes a worker to claim a relabeling.
type RelabelJob struct{}

// Kind names the job in the queue.
func (RelabelJob) Kind() string { return "relabel" }

// JudgeJob wakes a worker to claim a judging.
type JudgeJob struct{}

// Kind names the job in the queue.
func (JudgeJob) Kind() string { return "judge" }

// ScoreJob wakes a worker to claim a scoring.
type ScoreJob struct{}

// Kind names the job in the queue.
func (ScoreJob) Kind() string { return "score" }

// LabelBatchJob wakes a worker to send or poll a batch of labels.
type LabelBatchJob struct{}

// Kind names the job in the queue.
func (LabelBatchJob) Kind() string { return "label_batch" }
