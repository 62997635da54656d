package relabel

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// ExportState is the state of an export.
type ExportState string

// The states of an export.
const (
	ExportQueued    ExportState = "queued"
	ExportRunning   ExportState = "running"
	ExportDone      ExportState = "done"
	ExportFailed    ExportState = "failed"
	ExportCancelled ExportState = "cancelled"
)

// ExportSelection selects the labelled states to export. Held-out tasks, abandoned attempts
// and evaluations are never exported.
type ExportSelection struct {
	RunID      ID   `json:"run_id" doc:"The run."`
	Iteration  int  `json:"iteration" doc:"Number of the exported collect iteration."`
	Aggregated bool `json:"aggregated" doc:"Whether every earlier iteration is exported too (eq. 3)."`
	// Unfinished includes running iterations: their trajectories that are done when the export is
	// cut. The others are excluded and counted as not done.
	Unfinished bool `json:"unfinished,omitempty" doc:"Whether the done trajectories of running iterations are exported too."`
	Submitted  bool `json:"submitted" doc:"Only trajectories with a valid submission."`
	Resolved   bool `json:"resolved" doc:"Only resolved trajectories: submitted and passed."`
	// Hit selects answers to localise, MinScore these and tasks in a terminal.
	Hit      bool     `json:"hit,omitempty" doc:"Only trajectories whose answer names at least one gold location; absent: any."`
	MinScore *float64 `json:"min_score,omitempty" doc:"Only trajectories with this score or more; absent: any."`
	// MixedRewards selects only groups (the trajectories of one task in one iteration) whose members
	// have different rewards, since equal rewards have no advantage (GRPO). A submitted
	// trajectory without a verdict is not a member of its group; one that was not submitted has reward 0.
	MixedRewards bool `json:"mixed_rewards" doc:"Only groups (the trajectories of a task in an iteration) whose members have different rewards: resolved and unresolved ones, or different scores."`
	// VerdictProtections requires a verdict of at least this version of the verifier's
	// protections; 0: any verdict, or none.
	VerdictProtections int `json:"verdict_protections,omitempty" doc:"Only trajectories with a verdict of at least this version of the verifier's protections; absent: any verdict, or none."`
	// EndReasons are the accepted ends of trajectories; empty: any.
	EndReasons []EndReason `json:"end_reasons,omitempty" doc:"Only trajectories with one of these ends."`
	// Agreement selects states by whether the executed action equals the label.
	Agreement Agreement `json:"agreement,omitempty" doc:"Only states whose executed action equals the label (same) or differs from it (differs); absent: all."`
	// LabelPolicyID selects the labels of another policy: a relabeling's, or the student's own
	// actions. nil: the labels of the run's teacher.
	LabelPolicyID *ID `json:"label_policy_id,omitempty" doc:"The policy whose labels are exported instead of the run's teacher's. Absent: the run's teacher."`
	// ExcludeFlags are flags of reviews and ModeFlags: what is flagged so does not leave, the whole
	// trajectory or the state of one turn. AnyFlag stands for all flags of reviews.
	ExcludeFlags []string `json:"exclude_flags,omitempty" doc:"Flags of reviews and of failure modes (mode:loop): trajectories and states with one of them are not exported; absent: none."`
	// AllowBenchmarks are names of benchmarks whose tasks are exported all the same.
	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" doc:"Names of benchmarks whose tasks are exported; absent: no task of a named benchmark is."`
	// Conversations selects all conversations of a set, and nothing of a run: only sources of mixes do.
	Conversations *ConversationSet `json:"conversations,omitempty" doc:"The conversation set whose conversations are exported, instead of a run; absent: a run's labels are."`
}

// Agreement selects states by whether the executed action equals the label.
type Agreement string

// The choices. If the teacher executed the turn, action and label are equal.
const (
	AgreementAny     Agreement = ""        // every state
	AgreementSame    Agreement = "same"    // only states whose label was executed
	AgreementDiffers Agreement = "differs" // only states where the student deviated from the label
)

// ExportForm is the format of an export. Fields about tokens are empty if messages is the only
// view.
type ExportForm struct {
	Views []View `json:"views,omitempty" name:"view" minItems:"1" maxItems:"8" uniqueItems:"true" enum:"messages,linear,packed,tree,preference,arrow,prompt_completion,chat" doc:"Row formats. Default: messages; with a trainer (for), what it reads. arrow, prompt_completion and chat are written for a trainer only."`
	// For is the name of a trainer of package trainers, which determines views, Bare and Dialect.
	For     string  `json:"for,omitempty" placeholder:"TRAINER" maxLength:"40" help:"Write what this trainer's loader reads, with its configuration, or refuse with the reason: trl, verl, axolotl, llama-factory, ms-swift, openrlhf, megatron-bridge, nemo-rl, automodel, skyrl, slime, tinker, openai, prime-rl." doc:"Write what this trainer's loader reads, with its configuration, or refuse with the reason: trl, prime-rl, verl, slime, nemo-rl, automodel, megatron-bridge, axolotl, ms-swift, llama-factory, skyrl, openrlhf, tinker or openai. Views may add messages and linear, or name another view that the trainer reads."`
	Dialect Dialect `json:"dialect,omitempty" kong:"-" readOnly:"true" doc:"Form of the rows of chat or prompt_completion, from for; absent without such a view."`
	// Tokenizer is the student's tokenizer as the user gave it: the name or hash of a registered
	// one, whose hash is in TokenizerHash, or a path below --tokenizers of the building machines.
	// TemplateText replaces the tokenizer's chat template, as does Template, the path of a file
	// below --tokenizers; at most one is set. TemplateOptions is a JSON object of further template
	// variables.
	Tokenizer       string          `json:"tokenizer,omitempty" placeholder:"DIR|NAME" help:"The student's tokenizer: a model's folder on this machine, which is registered, or the name or hash of a registered one. Default: the student policy's." maxLength:"4096" doc:"The student's tokenizer: the name (or name@version) or the hash of a registered one, or a path below --tokenizers of the machines that build. Needed for views of tokens, except where the student's policy names one."`
	TokenizerHash   string          `json:"tokenizer_hash,omitempty" kong:"-" readOnly:"true" doc:"Hash of the registered tokenizer's files; absent: the tokenizer is a path below --tokenizers."`
	Template        string          `json:"template,omitempty" placeholder:"FILE" help:"File with a chat template that replaces the tokenizer's own; its text is sent." maxLength:"4096" doc:"Path of a file with a chat template that replaces the tokenizer's own, below --tokenizers of the machines that build."`
	TemplateText    string          `json:"template_text,omitempty" kong:"-" maxLength:"262144" doc:"Text of a chat template that replaces the tokenizer's own."`
	TemplateOptions json.RawMessage `json:"template_options,omitempty" type:"json" placeholder:"JSON" doc:"Further variables for the template, such as {\"enable_thinking\": false}."`
	Date            string          `json:"date,omitempty" placeholder:"YYYY-MM-DD" format:"date" doc:"Today's date for a template that prints it. Without it such a template is refused, because the same export must give the same bytes."`
	Arguments       ArgumentsForm   `json:"arguments,omitempty" default:"" enum:"auto,string,object" doc:"How the template gets a call's arguments: as the model's own text or as an object. auto, the default: as text if the template prints it unchanged, otherwise as an object."`
	Reasoning       ReasoningForm   `json:"reasoning,omitempty" default:"" enum:"template,keep,drop" doc:"How reasoning is exported: the template decides (the default); labels that it renders without their reasoning are excluded (keep); or the template never gets it (drop)."`
	// ThinkingAlias gives a message's reasoning_content to the template as thinking too, the
	// name that those of gpt-oss and LFM read. nil: true.
	ThinkingAlias *bool         `json:"thinking_alias,omitempty" negatable:"" help:"Give the template a message's reasoning_content also as thinking, the name that the templates of gpt-oss and LFM read. Default: on." doc:"Whether the template gets a message's reasoning_content as thinking too, the name that the templates of gpt-oss and LFM read. Default: true."`
	Normalisation Normalisation `json:"normalisation,omitempty" default:"" enum:"token,transition" doc:"Weight of a label's tokens: token gives each of them w (the default), transition gives each w divided by their number."`
	WeightSpan    WeightSpan    `json:"weight_span,omitempty" default:"" enum:"token,turn" doc:"For runs of recipe opd, the tokens whose log πe − log πθ form a token's weight w: its own (token, the default), or the sum over all tokens of its turn (turn). The normalisation applies to the result."`
	Capacity      int           `json:"capacity,omitempty" placeholder:"TOKENS" minimum:"64" maximum:"524288" doc:"Tokens per bin. Default: 65536."`
	MaxLength     int           `json:"max_length,omitempty" placeholder:"TOKENS" minimum:"1" maximum:"524288" doc:"Maximum tokens from the start of a sequence or tree to the end of a label in it. Default: the capacity."`
	TooLong       TooLong       `json:"too_long,omitempty" default:"" enum:"cut,drop" help:"What to do with a trunk longer than --max-length: cut it after the last label that fits (the default), or drop all its labels. A longer leaf is always dropped. All are counted." doc:"What to do with a trunk over max_length: cut it after the last label that fits (the default), or drop all its labels. A leaf over it is dropped. All are counted."`
	Divide        int           `json:"divide,omitempty" placeholder:"N" minimum:"1" maximum:"4096" doc:"The trainer's data-parallel size: the number of files per view is a multiple of this; their numbers of rows differ by one at most. Default: 1."`
	MaxLabels     int           `json:"max_labels,omitempty" placeholder:"N" minimum:"1" maximum:"1000000" help:"Export exactly N labelled states: those of whole trajectories in an order drawn by the run's seed, and the first ones of the last trajectory. Fewer are an error. Default: all." doc:"Export exactly this number of labelled states: those of whole trajectories in an order drawn by the run's seed, and the first ones of the last trajectory. The others are excluded and counted as over_max_labels; an export with fewer fails. Default: all."`
	MinDistance   float64       `json:"min_distance,omitempty" placeholder:"X" exclusiveMinimum:"0" maximum:"1" doc:"Of the preference view, the least distance between label and executed action, from 0 (the same words) to 1 (no common word); closer ones are counted and not written. Default: any that differ."`
	PadTree       bool          `json:"pad_tree,omitempty" doc:"Fill rows of the tree view up to the capacity."`
	Bare          bool          `json:"bare,omitempty" doc:"Write linear rows with only input_ids, attention_mask and labels, for loaders that require exactly these columns."`
	// ExcludeSecrets and AllowSecrets are about secrets in the exported text: keys, tokens, passwords.
	ExcludeSecrets bool     `json:"exclude_secrets,omitempty" doc:"Exclude states that have a secret (a key, a token, a password) in their text or in their label; they are counted as secret. Default: the manifest counts secrets."`
	AllowSecrets   []string `json:"allow_secrets,omitempty" name:"allow-secret" placeholder:"RULE" minItems:"1" maxItems:"50" uniqueItems:"true" help:"Push to the Hugging Face Hub although the text has secrets of this rule, such as private-key or jwt; may be repeated. Default: an export with secrets is not pushed." doc:"Rules of secrets, such as private-key or jwt, that an export to the Hugging Face Hub may have. Default: none: an export with secrets fails and names them."`
}

// Tokens reports whether a view is asked for that needs the student's tokenizer.
func (f ExportForm) Tokens() bool {
	for _, v := range f.Views {
		if v != ViewMessages && !(v == ViewChat && f.Dialect == DialectWeight) {
			return true
		}
	}
	return false
}

// HasText reports whether a view is asked for whose text the trainer renders or encodes itself.
func (f ExportForm) HasText() bool {
	return slices.Contains(f.Views, ViewChat) && f.Dialect != DialectLoss || slices.Contains(f.Views, ViewPromptCompletion)
}

// ArgumentsForm is the form in which templates receive the arguments of a call.
type ArgumentsForm string

// The forms.
const (
	ArgumentsAuto   ArgumentsForm = ""       // determined by rendering: see shard/render
	ArgumentsString ArgumentsForm = "string" // the model's own JSON text
	ArgumentsObject ArgumentsForm = "object" // parsed, with the order and numbers as written
)

// ReasoningForm says how reasoning_content is exported.
type ReasoningForm string

// The forms.
const (
	ReasoningTemplate ReasoningForm = ""     // given to the template, which decides
	ReasoningKeep     ReasoningForm = "keep" // given to it; a label that it renders without its reasoning is left out
	ReasoningDrop     ReasoningForm = "drop" // never given to the template, in states and labels
)

// Normalisation is how w(s, a) is spread over the tokens of a label.
type Normalisation string

// The normalisations.
const (
	PerToken      Normalisation = "token"      // each token weighs w
	PerTransition Normalisation = "transition" // each token weighs w / |ãt|
)

// WeightSpan says over which tokens log πe − log πθ is summed to a token's weight (opd). The
// sums Σ w_token · log π and w_turn · Σ log π are different estimators of the same gradient.
type WeightSpan string

// The weight spans.
const (
	SpanToken WeightSpan = "token" // each token has its own weight
	SpanTurn  WeightSpan = "turn"  // each token has the sum over its turn
)

// TooLong says what to do with a trunk over the limits. A leaf over them is always dropped.
type TooLong string

// The choices. The export counts what they exclude.
const (
	CutTooLong  TooLong = "cut"  // a trunk is cut after the last label that fits
	DropTooLong TooLong = "drop" // a trunk over the limit is dropped with all its labels
)

// Export is a data set built from selected trajectories.
type Export struct {
	ID        ID              `json:"id" doc:"Its id."`
	Selection ExportSelection `json:"selection" doc:"The selected states."`
	Mix       *Mix            `json:"mix,omitempty" doc:"How labels are mixed: further sources, weights, caps; absent: those of the run alone, each with the weight of its recipe."`
	// Compared are counts of each source of a mix, its own run first; nil before they are compared.
	Compared []ComparedLabels `json:"compared,omitempty" doc:"Of a mix: what the comparison of all labels counted, by source, the run's own first; absent before, and without a mix of sources."`
	Form     ExportForm       `json:"form" doc:"The format."`
	State    ExportState      `json:"state" doc:"queued, running, done, failed or cancelled."`
	// Destination is the URL of the bucket to write to. Empty: the exports' folder with the id
	// FolderID.
	Destination string `json:"destination,omitempty" doc:"URL of the bucket that it is written to; absent: the exports' folder of the server."`
	FolderID    string `json:"-"`
	Directory   string `json:"directory" doc:"Location of its files: a folder or a URL."`
	Parts       int    `json:"parts" doc:"Parts that workers build independently; 0 until it is cut."`
	PartsDone   int    `json:"parts_done" doc:"Finished parts."`
	Rows        int    `json:"rows" doc:"Labelled states in it."`
	// Trajectories is nil before the end, and in exports of versions that did not count them.
	Trajectories *int           `json:"trajectories,omitempty" doc:"Trajectories with a labelled state in it; absent before the end, and in exports of earlier versions."`
	Excluded     map[string]int `json:"excluded" doc:"Excluded states by reason."`
	// PromptCheck compares rendered prompts with those of the student's server; nil before
	// the end, and without a token view.
	PromptCheck *PromptCheck `json:"prompt_check,omitempty" doc:"Comparison of its prompts with those that the student's server received; absent before the end, and without a token view."`
	// ModelCheck says whether the student's architecture was checked for recurrent layers;
	// empty without the tree view.
	ModelCheck ModelCheck `json:"model_check,omitempty" doc:"Whether the student's config.json was checked for recurrent layers, which cannot train on trees: checked, or not_checked without that file; absent without the tree view."`
	Failure    string     `json:"failure,omitempty" doc:"Why it failed."`
	// Waiting is the reason of a current wait, usually for the destination.
	Waiting      string       `json:"waiting,omitempty" doc:"Reason of the current wait: the destination is unreachable or full, or a step is about to be retried."`
	WaitingSince *time.Time   `json:"waiting_since,omitempty" doc:"When the wait began."`
	Files        []ExportFile `json:"files" doc:"Its files."`
	Pushes       []ExportPush `json:"pushes,omitempty" doc:"Its pushes to the Hugging Face Hub after it was done, newest first; absent: none."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was requested."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
}

// ModelCheck says whether the model for the tree view is known to have no recurrent layers,
// which would carry state between branches.
type ModelCheck string

// The values. A model with recurrent layers is refused.
const (
	ModelChecked    ModelCheck = "checked"     // its config.json names no recurrent layer
	ModelNotChecked ModelCheck = "not_checked" // its tokenizer's folder has no config.json
)

// ExportFilter narrows a list of exports. Zero fields do not narrow.
type ExportFilter struct{ RunID *ID }

// PromptCheck compares an export's rendered prompts with the ids that the student's server
// reported. If they differ, the server has another template, other template variables or another
// tokenizer, and the student never saw the prompts of the data set.
type PromptCheck struct {
	Compared int               `json:"compared" doc:"Prompts of the student's turns whose ids its server reported."`
	Differ   int               `json:"differ" doc:"Prompts that are rendered differently: the server has another template, other template variables, or another tokenizer."`
	First    *PromptDifference `json:"first,omitempty" doc:"The first difference; absent: none."`
}

// PromptDifference is the first difference between two lists of ids.
type PromptDifference struct {
	Trajectory string `json:"trajectory" doc:"The trajectory."`
	Turn       int    `json:"turn" doc:"The turn."`
	At         int    `json:"at" doc:"Index of the first id that differs."`
	Ours       string `json:"ours" doc:"Text of the export's ids around it."`
	Theirs     string `json:"theirs" doc:"Text of the server's ids around it."`
}

// ExportFile is one file of an export.
type ExportFile struct {
	Path             string `json:"path" doc:"Path relative to the export's directory."`
	SHA256           string `json:"sha256" doc:"SHA-256 of the file, in hex."`
	Bytes            int64  `json:"bytes" doc:"Size in bytes."`
	Rows             int    `json:"rows" doc:"Rows in it."`
	Tokens           int    `json:"tokens,omitempty" doc:"Tokens in it, including padding; absent in files without tokens."`
	SupervisedTokens int    `json:"supervised_tokens,omitempty" doc:"Supervised tokens in it."`
}

// ExportPart is a part of an export that one worker builds: consecutive trajectories in the
// export's order.
type ExportPart struct {
	ExportID     ID
	Number       int // from 0
	Source       int // of its trajectories; see Export.Source
	Trajectories []PartTrajectory
	Chunk        *int // of the conversations of a set that the part has instead; nil: it has trajectories
	// Dropped are labels that the comparison of all labels excludes.
	Dropped []DroppedLabel
	Files   []ExportFile // finished ones
	Done    bool
}

// FinishedPart is the input of an export's last step from one part.
type FinishedPart struct {
	Number   int
	Source   int             // of its trajectories; see Export.Source
	Summary  json.RawMessage // as its builder wrote it
	Excluded []byte          // JSON lines
	Files    []ExportFile
}

// PartTrajectory is a trajectory's state when its export was cut.
type PartTrajectory struct {
	ID     ID              `json:"id"`
	State  TrajectoryState `json:"state"`  // nothing is exported of one that had not ended
	Trail  int             `json:"trail"`  // the attempt that holds its turns
	Turns  int             `json:"turns"`  // of the trail
	Labels int             `json:"labels"` // received from the selected policy
	// Scores are its turns' scores by the teacher and by the student: 0 unless the recipe is opd.
	Scores int `json:"scores,omitempty"`
	// Flagged are its states with one of the flags that are left out.
	Flagged []FlaggedState `json:"flagged,omitempty"`
	// Verdict is the verdict at that time, which a regrading may replace while the export is
	// built; nil in parts cut by older versions.
	Verdict *PartVerdict `json:"verdict,omitempty"`
	// Benchmark is the name of a benchmark that reserved its task at that time and that the
	// selection does not allow; "" if there is none.
	Benchmark string `json:"benchmark,omitempty"`
	// Group describes its group's rewards; nil unless ExportSelection.MixedRewards is set.
	Group *RewardGroup `json:"group,omitempty"`
}

// PartVerdict is a trajectory's current verdict; the fields are nil if there is none.
type PartVerdict struct {
	Passed      *bool `json:"passed"`
	Protections *int  `json:"protections"`
	// Score and Hits are of an answer to localise.
	Score *float64 `json:"score,omitempty"`
	Hits  *int     `json:"hits,omitempty"`
}

// RewardGroup describes the group of a trajectory: the trajectories of its task in its
// iteration that have a reward (see Trajectory.Reward). Failed and cancelled trajectories are
// not members.
type RewardGroup struct {
	First   bool      `json:"first"`   // the trajectory is the first of its task and iteration; groups are counted by it
	Rewards []float64 `json:"rewards"` // of all members, ascending
	// Mixed says in exports of older versions, which have no Rewards, whether rewards differ.
	Mixed bool `json:"mixed,omitempty"`
}

// HasMixedRewards reports whether members have different rewards.
func (g RewardGroup) HasMixedRewards() bool {
	return g.Mixed || len(g.Rewards) > 0 && slices.Min(g.Rewards) != slices.Max(g.Rewards)
}

// TooSmall reports whether the group has fewer than two members, so that rewards cannot differ.
func (g RewardGroup) TooSmall() bool { return !g.Mixed && len(g.Rewards) < 2 }

// benchmarkReason begins the reason for which states of a benchmark's tasks are not exported, before its name.
const benchmarkReason = "benchmark:"

// BenchmarkReason is the reason in an export's counts for states of tasks that a benchmark or an exclusion list reserves.
func BenchmarkReason(name string) string { return benchmarkReason + name }

// CutBenchmarkReason returns the name of the benchmark in such a reason, and whether it is one.
func CutBenchmarkReason(reason string) (name string, is bool) {
	return strings.CutPrefix(reason, benchmarkReason)
}

// ExportTrajectory is the input of an export from one trajectory.
type ExportTrajectory struct {
	Trajectory Trajectory
	Iteration  Iteration
	Teacher    Policy // whose labels the turns have
	Student    Policy
	Task       Task
	Turns      []Turn
	// StudentPrompt returns the prompt's ids that the student's server reported at a turn that the
	// student executed, nil if it reported none. The function may be nil.
	StudentPrompt func(t int) []int32
	Flagged       []FlaggedState // when the export was cut
	Benchmark     string         // that reserved its task at that time; "" if none did
	Group         *RewardGroup   // at that time; nil unless ExportSelection.MixedRewards is set
	// Opening and Tools are those of a conversation; nil: those of the run's prompts.
	Opening []Message
	Tools   []Tool
	// StudentScores and TeacherScores are log-probabilities at T = 1, by turn: one for each token
	// of the student's own action, under the student and under the teacher. They lack turns that
	// were not scored, and are nil unless the run's recipe is opd.
	StudentScores, TeacherScores map[int][]float32
}

// Holding is a finished export that selected a trajectory, and the part that contains it:
// only the files of that part have its labels.
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
	ExportPushStore
	// CreateExport stores an export and queues its job, in one transaction.
	CreateExport(ctx context.Context, e Export) error
	FindExport(ctx context.Context, id ID) (Export, error)
	// CancelExport cancels an export: CodeConflict if it ended in another state. DeleteExport
	// deletes the record of an export: CodeConflict if it, or a push of it, has not ended.
	CancelExport(ctx context.Context, id ID) error
	DeleteExport(ctx context.Context, id ID) error
	ListExports(ctx context.Context, f ExportFilter, p Page) (exports []Export, next string, err error)
}
