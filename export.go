package relabel

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"time"
)

// ExportState is where an export stands.
type ExportState string

// The states of an export.
const (
	ExportQueued    ExportState = "queued"
	ExportRunning   ExportState = "running"
	ExportDone      ExportState = "done"
	ExportFailed    ExportState = "failed"
	ExportCancelled ExportState = "cancelled"
)

// ExportSelection says which labelled states leave. Held-out tasks, attempts that
// were given up, and evaluations never do.
type ExportSelection struct {
	RunID      ID   `json:"run_id" doc:"The run."`
	Iteration  int  `json:"iteration" doc:"Number of the collect iteration that is exported."`
	Aggregated bool `json:"aggregated" doc:"Whether every earlier iteration is exported too (eq. 3)."`
	// Unfinished takes iterations that are still running too: what is done of them when the
	// export is cut. The rest is left out, counted as not done.
	Unfinished bool `json:"unfinished,omitempty" doc:"Whether iterations that were still running are exported too, as far as they were done."`
	Submitted  bool `json:"submitted" doc:"Only trajectories with a valid submission."`
	Resolved   bool `json:"resolved" doc:"Only resolved trajectories: submitted and passed."`
	// MixedRewards takes only groups (the trajectories of one task in one iteration) of which
	// some are resolved and some are not: equal rewards have no advantage (GRPO). A trajectory
	// without a verdict is no member of its group.
	MixedRewards bool `json:"mixed_rewards" doc:"Only groups (the trajectories of a task in an iteration) of which some are resolved and some are not."`
	// VerdictProtections demands a verdict of this version of the verifier's protections or a
	// newer one; 0: any, or none.
	VerdictProtections int `json:"verdict_protections,omitempty" doc:"Only trajectories with a verdict of this version of the verifier's protections or a newer one; absent: any verdict, or none."`
	// EndReasons are the ends that a trajectory may have; empty: any.
	EndReasons []EndReason `json:"end_reasons,omitempty" doc:"Only trajectories that ended so."`
	// Agreement leaves out states by whether the executed action is the label.
	Agreement Agreement `json:"agreement,omitempty" doc:"Only states where the executed action is the label (same) or is not (differs); absent: all."`
	// LabelPolicyID is whose labels leave in the place of the run's teacher's: those that a
	// relabeling asked for, or the student's own actions. nil: the teacher's.
	LabelPolicyID *ID `json:"label_policy_id,omitempty" doc:"The policy whose labels are exported instead of the run's teacher's. Absent: the run's teacher."`
	// ExcludeFlags are flags of reviews: what is flagged so does not leave, the whole
	// trajectory or the state of one turn. AnyFlag stands for all.
	ExcludeFlags []string `json:"exclude_flags,omitempty" doc:"What reviews flagged so is not exported; absent: flags do not matter."`
}

// Agreement says which states leave, by what was executed in them.
type Agreement string

// The choices. Where the teacher executed, action and label are the same.
const (
	AgreementAny     Agreement = ""        // every state
	AgreementSame    Agreement = "same"    // only those whose label was executed
	AgreementDiffers Agreement = "differs" // only those whose label was not: what the student does otherwise
)

// View is a form of the rows of an export.
type View string

// The views. All but messages are of tokens.
const (
	ViewMessages View = "messages" // a row is a labelled state as chat messages
	ViewLinear   View = "linear"   // a row is one sequence
	ViewPacked   View = "packed"   // a row is a bin of sequences
	ViewTree     View = "tree"     // a row is a bin of token trees
)

// Views are all views, in the order in which they are written.
var Views = []View{ViewMessages, ViewLinear, ViewPacked, ViewTree}

// ExportForm says how what leaves is written. What speaks of tokens is empty where only
// messages are asked for.
type ExportForm struct {
	Views []View `json:"views,omitempty" name:"view" maxItems:"4" uniqueItems:"true" enum:"messages,linear,packed,tree" doc:"Forms of the rows. Default: messages."`
	// Tokenizer is the student's tokenizer as it was named: the name or the hash of a
	// registered one, whose hash is in TokenizerHash, or else a path below --tokenizers of the
	// machines that build. TemplateText is another chat template than the tokenizer's own,
	// Template the path of a file with one, below --tokenizers as well; at most one is set.
	// TemplateOptions is an object of further variables for the template.
	Tokenizer       string          `json:"tokenizer,omitempty" placeholder:"DIR|NAME" help:"The student's tokenizer: a model's folder on this machine, which is registered, or the name or hash of a registered one. Default: the student policy's." maxLength:"4096" doc:"The student's tokenizer: the name (or name@version) or the hash of a registered one, or a path below --tokenizers of the machines that build. Needed for views of tokens, except where the student's policy names one."`
	TokenizerHash   string          `json:"tokenizer_hash,omitempty" kong:"-" readOnly:"true" doc:"Hash of the registered tokenizer's files; absent: the tokenizer is a path below --tokenizers."`
	Template        string          `json:"template,omitempty" placeholder:"FILE" help:"File with another chat template than the tokenizer's own; its text is sent." maxLength:"4096" doc:"Path of a file with another chat template than the tokenizer's own, below --tokenizers of the machines that build."`
	TemplateText    string          `json:"template_text,omitempty" kong:"-" maxLength:"262144" doc:"Text of another chat template than the tokenizer's own."`
	TemplateOptions json.RawMessage `json:"template_options,omitempty" type:"json" placeholder:"JSON" doc:"Further variables for the template, such as {\"enable_thinking\": false}."`
	Date            string          `json:"date,omitempty" placeholder:"YYYY-MM-DD" format:"date" doc:"The day that the template sees where it asks for one. Without it such a template is refused: the same export must give the same bytes."`
	Arguments       ArgumentsForm   `json:"arguments,omitempty" default:"" enum:"auto,string,object" doc:"How the template gets a call's arguments: as the model's own text or as an object. auto, the default: as text where the template shows that as it is."`
	Reasoning       ReasoningForm   `json:"reasoning,omitempty" default:"" enum:"template,keep,drop" doc:"How reasoning is exported: the template decides (the default); labels that it renders without theirs are excluded (keep); or it is never given to the template (drop)."`
	// ThinkingAlias gives a message's reasoning_content to the template as thinking too, the
	// name that those of gpt-oss and LFM read. nil: true.
	ThinkingAlias *bool         `json:"thinking_alias,omitempty" negatable:"" doc:"Whether the template gets a message's reasoning_content as thinking too, the name that those of gpt-oss and LFM read. Absent: true."`
	Normalisation Normalisation `json:"normalisation,omitempty" default:"" enum:"token,transition" doc:"What each label's weight is spread over: each of its tokens weighs w (the default), or w divided by their number."`
	Capacity      int           `json:"capacity,omitempty" placeholder:"TOKENS" minimum:"64" maximum:"524288" doc:"Tokens of a bin. Default: 65536."`
	MaxLength     int           `json:"max_length,omitempty" placeholder:"TOKENS" minimum:"0" maximum:"524288" doc:"Most tokens from the start of a sequence or tree to the end of a label in it. 0: the capacity."`
	TooLong       TooLong       `json:"too_long,omitempty" default:"" enum:"cut,drop" doc:"What to do with a trunk over max_length: cut it after the last label that fits (the default), or drop all its labels. A leaf over it is dropped. All are counted."`
	Divide        int           `json:"divide,omitempty" placeholder:"N" minimum:"0" maximum:"4096" doc:"The trainer's data-parallel size: the number of files per view is a multiple of this; their numbers of rows differ by one at most. 0: 1."`
	PadTree       bool          `json:"pad_tree,omitempty" doc:"Fill rows of the tree view up to the capacity."`
	Bare          bool          `json:"bare,omitempty" doc:"Write linear with input_ids, attention_mask and labels alone, for loaders that want exactly these."`
}

// Tokens reports whether a view of tokens is asked for.
func (f ExportForm) Tokens() bool {
	for _, v := range f.Views {
		if v != ViewMessages {
			return true
		}
	}
	return false
}

// ArgumentsForm is how templates get the arguments of a call.
type ArgumentsForm string

// The forms.
const (
	ArgumentsAuto   ArgumentsForm = ""       // found out by rendering: see shard/render
	ArgumentsString ArgumentsForm = "string" // the model's own JSON text
	ArgumentsObject ArgumentsForm = "object" // read, with order and numbers as written
)

// ReasoningForm is what becomes of reasoning_content.
type ReasoningForm string

// The forms.
const (
	ReasoningTemplate ReasoningForm = ""     // given to the template, which decides
	ReasoningKeep     ReasoningForm = "keep" // given to it; a label that it renders without its reasoning is left out
	ReasoningDrop     ReasoningForm = "drop" // never given to the template, in states and labels
)

// Normalisation is how w(s, a) is spread over the tokens of a label.
type Normalisation string

// The ways.
const (
	PerToken      Normalisation = "token"      // each token weighs w
	PerTransition Normalisation = "transition" // each token weighs w / |ãt|
)

// TooLong says what to do with a trunk over the limits. A leaf over them is always dropped.
type TooLong string

// The ways; what they exclude is counted.
const (
	CutTooLong  TooLong = "cut"  // a trunk is cut after the last label that fits
	DropTooLong TooLong = "drop" // a trunk over the limit is dropped with all its labels
)

// Export is a data set built from chosen trajectories.
type Export struct {
	ID        ID              `json:"id" doc:"Its id."`
	Selection ExportSelection `json:"selection" doc:"What leaves."`
	Form      ExportForm      `json:"form" doc:"How what leaves is written."`
	State     ExportState     `json:"state" doc:"queued, running, done, failed or cancelled."`
	// Destination is the bucket below which it is written, as a URL. Empty: the exports'
	// folder with the id FolderID.
	Destination string         `json:"destination,omitempty" doc:"URL of the bucket below which it is written; absent: the exports' folder of the server that was asked."`
	FolderID    string         `json:"-"`
	Directory   string         `json:"directory" doc:"Where its files are: a folder, or a URL."`
	Parts       int            `json:"parts" doc:"Pieces that are built apart, by any worker; 0 until it is cut."`
	PartsDone   int            `json:"parts_done" doc:"Pieces that are there."`
	Rows        int            `json:"rows" doc:"Labelled states in it."`
	Excluded    map[string]int `json:"excluded" doc:"Excluded states by reason."`
	// PromptCheck compares rendered prompts with those of the student's server; nil before
	// the end, and without a view of tokens.
	PromptCheck *PromptCheck `json:"prompt_check,omitempty" doc:"How its prompts compare with what the student's server was given; absent before the end, and without a view of tokens."`
	// ModelCheck says whether the student's architecture was checked for recurrent layers;
	// empty without the tree view.
	ModelCheck ModelCheck `json:"model_check,omitempty" doc:"Whether the student's config.json was checked for recurrent layers, which trees must not train: checked, or not_checked where there is none; absent without the tree view."`
	Failure    string     `json:"failure,omitempty" doc:"Why it failed."`
	// Waiting is why it waits, since when, while it does: mostly for its destination.
	Waiting      string       `json:"waiting,omitempty" doc:"Why it waits, while it does: its destination is away or full, or a step is tried again."`
	WaitingSince *time.Time   `json:"waiting_since,omitempty" doc:"Since when it waits."`
	Files        []ExportFile `json:"files" doc:"Its files."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was asked for."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it was finished."`
}

// ModelCheck says whether the architecture of the model that is to train on trees is known
// to have no recurrent layers: their state would go from branch to branch.
type ModelCheck string

// The values. A model with recurrent layers is refused.
const (
	ModelChecked    ModelCheck = "checked"     // its config.json names no recurrent layer
	ModelNotChecked ModelCheck = "not_checked" // there is no config.json beside its tokenizer
)

// ExportFilter narrows a list of exports. Zero fields do not narrow.
type ExportFilter struct{ RunID *ID }

// PromptCheck compares prompts as an export renders them with the ids that the student's
// server said it was given. Where they differ, the server has another template, other
// variables for it or another tokenizer, and the data set has prompts that it never saw.
type PromptCheck struct {
	Compared int               `json:"compared" doc:"Prompts of the student's turns whose ids its server gave."`
	Differ   int               `json:"differ" doc:"How many of them are rendered otherwise: the server has another template, other variables for it, or another tokenizer."`
	First    *PromptDifference `json:"first,omitempty" doc:"Where the first of them differs; absent: nowhere."`
}

// PromptDifference is where two lists of ids part.
type PromptDifference struct {
	Trajectory string `json:"trajectory" doc:"The trajectory."`
	Turn       int    `json:"turn" doc:"The turn."`
	At         int    `json:"at" doc:"Index of the first id that differs."`
	Ours       string `json:"ours" doc:"Text of the ids around it, as the export has them."`
	Theirs     string `json:"theirs" doc:"The same of what the server was given."`
}

// ExportFile is one file of an export.
type ExportFile struct {
	Path             string `json:"path" doc:"Path relative to the export's directory."`
	SHA256           string `json:"sha256" doc:"SHA-256 of the file, in hex."`
	Bytes            int64  `json:"bytes" doc:"Size in bytes."`
	Rows             int    `json:"rows" doc:"Rows in it."`
	Tokens           int    `json:"tokens,omitempty" doc:"Tokens in it, padding among them; absent in files without."`
	SupervisedTokens int    `json:"supervised_tokens,omitempty" doc:"Tokens in it that are trained on."`
}

// ExportPart is a piece of an export that one machine builds alone: trajectories that
// follow each other in the export's order.
type ExportPart struct {
	ExportID     ID
	Number       int // from 0
	Trajectories []PartTrajectory
	Files        []ExportFile // that are finished
	Done         bool
}

// FinishedPart is what the end of an export needs to know of a part.
type FinishedPart struct {
	Number   int
	Summary  json.RawMessage // as its builder wrote it
	Excluded []byte          // JSON lines
	Files    []ExportFile
}

// PartTrajectory names a trajectory as it was when its export was cut.
type PartTrajectory struct {
	ID     ID              `json:"id"`
	State  TrajectoryState `json:"state"`  // nothing leaves of one that was not over, whatever came of it
	Trail  int             `json:"trail"`  // the attempt that holds its turns
	Turns  int             `json:"turns"`  // of the trail
	Labels int             `json:"labels"` // that were there, of the selected policy
	// Flagged are its states with one of the flags that are left out.
	Flagged []FlaggedState `json:"flagged,omitempty"`
	// Verdict is the verdict then: grading again may replace it while the export is built.
	// nil in parts that older versions cut.
	Verdict *PartVerdict `json:"verdict,omitempty"`
	// Group is its group's rewards; nil where ExportSelection.MixedRewards is not set.
	Group *RewardGroup `json:"group,omitempty"`
}

// PartVerdict is a trajectory's current verdict; nil fields where there is none.
type PartVerdict struct {
	Passed      *bool `json:"passed"`
	Protections *int  `json:"protections"`
}

// RewardGroup says what an export needs to know of the group of a trajectory: the
// trajectories of its task in its iteration. A member's reward is whether it is resolved;
// one without a verdict, as after an infrastructure error, is no member.
type RewardGroup struct {
	Mixed bool `json:"mixed"` // some members are resolved and some are not
	First bool `json:"first"` // the trajectory is the first one of its task and iteration, by which groups are counted
}

// ExportTrajectory is a trajectory as an export reads it.
type ExportTrajectory struct {
	Trajectory Trajectory
	Iteration  Iteration
	Teacher    Policy // whose labels the turns have
	Student    Policy
	Task       Task
	Turns      []Turn
	// StudentPrompt returns the ids that the student's server was given at a turn that the
	// student executed, nil where it did not say so. A nil one knows of none.
	StudentPrompt func(t int) []int32
	Flagged       []FlaggedState // when the export was cut
	Group         *RewardGroup   // then; nil where ExportSelection.MixedRewards is not set
}

// Holding is a finished export that selected a trajectory, and the part of it that the
// trajectory was put into: the files of that part, and no others, have its labels.
type Holding struct {
	Export Export
	Part   int
}

// SelectedIteration is what an export selected of an iteration when it was cut, and what
// of it is left out so far.
type SelectedIteration struct {
	Number       int
	Trajectories int // done, failed and cancelled ones
	Turns        int
	Labels       int            // that were there
	Excluded     map[string]int // labelled states by reason, of the parts that are done
}

// Left is how many of its turns' states are not left out.
func (s SelectedIteration) Left() int {
	n := s.Turns
	for _, of := range s.Excluded {
		n -= of
	}
	return n
}

// FileReader reads a file of an export.
type FileReader interface {
	io.ReadSeekCloser
	Stat() (fs.FileInfo, error)
}

// ExportStore stores exports.
type ExportStore interface {
	// CreateExport stores an export and queues its job, in one transaction.
	CreateExport(ctx context.Context, e Export) error
	FindExport(ctx context.Context, id ID) (Export, error)
	// CancelExport ends an export that is not over: CodeConflict where it is, and was not
	// cancelled. DeleteExport forgets one that is over, CodeConflict where it is not.
	CancelExport(ctx context.Context, id ID) error
	DeleteExport(ctx context.Context, id ID) error
	ListExports(ctx context.Context, f ExportFilter, p Page) (exports []Export, next string, err error)
}
