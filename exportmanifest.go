package relabel

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Manifest is the content of an export's manifest.json. Fields about tokens are null or empty
// in an export without a token view.
type Manifest struct {
	SchemaVersion      int                `json:"schema_version"`
	Views              []View             `json:"views"`
	Capacity           *int               `json:"capacity"`  // tokens per bin; null: nothing is packed
	LossMask           map[string]string  `json:"loss_mask"` // view → alignment
	Files              []ManifestFile     `json:"files"`
	Fill               map[string]float64 `json:"fill"`
	DeduplicationRatio *float64           `json:"deduplication_ratio"`
	Tokenizer          *ManifestTokenizer `json:"tokenizer"`
	Template           *ManifestTemplate  `json:"template"`
	Teacher            string             `json:"teacher"` // policy id
	Student            string             `json:"student"` // policy id of the last iteration's student
	Run                string             `json:"run"`
	Iterations         []int              `json:"iterations"`            // those that gave a row
	Beta               []*float64         `json:"beta"`                  // βi of each; null if executors were drawn by κ
	Rho                []*RhoSchedule     `json:"rho"`                   // ρi of each; null if executors were drawn by β
	LabelRules         []ManifestRule     `json:"label_rules,omitempty"` // of each iteration; absent in exports of older versions: all
	Trajectories       TrajectoryCounts   `json:"trajectories"`
	Recipe             Recipe             `json:"recipe"`
	Normalisation      *Normalisation     `json:"normalisation"`
	Selection          ManifestSelection  `json:"selection"`
	MaxLabels          int                `json:"max_labels"`       // how many were asked for; 0: all
	States             int                `json:"states"`           // labelled states in it
	Excluded           map[string]int     `json:"excluded"`         // labelled states by reason
	SpecialText        int                `json:"special_text"`     // texts of special tokens in messages, encoded as plain text
	SpecialInTools     int                `json:"special_in_tools"` // texts of special tokens in the tools, encoded as these tokens
	Served             int                `json:"served"`           // labels with their server's own ids instead of a rendering
	PromptCheck        *PromptCheck       `json:"prompt_check"`     // null without a token view
	Groups             *ManifestGroups    `json:"groups"`           // null unless the selection requires mixed rewards
	ModelCheck         ModelCheck         `json:"model_check"`      // "" without the tree view
	// VerdictProtections counts the trajectories that gave a row by the version of the
	// protections of their verdict; null if the selection does not rely on verdicts.
	VerdictProtections map[string]int   `json:"verdict_protections"`
	TooLong            *ManifestTooLong `json:"too_long"` // null without a token view
	// WeightSpan says how weights follow from log-probabilities; absent unless the recipe is opd.
	WeightSpan WeightSpan `json:"weight_span,omitempty"`
	// Provenance says where the labels come from; absent in exports of versions that did not keep that.
	Provenance *ManifestProvenance `json:"provenance,omitempty"`
	// Secrets says what a scan of the exported texts found; absent in exports of versions that did not scan.
	Secrets *ManifestSecrets `json:"secrets,omitempty"`
	// Advantage says how advantages follow from rewards; absent unless the recipe is grpo.
	Advantage *ManifestAdvantage `json:"advantage,omitempty"`
	// Preferences counts the states of the preference view; absent without it.
	Preferences *PreferenceCounts `json:"preferences,omitempty"`
	// Mix describes the sources of a mix; absent without one. Run, recipe, selection, teacher, student,
	// iterations, beta, rho and label_rules are those of the export's own run.
	Mix *ManifestMix `json:"mix,omitempty"`
	// For is the trainer that the export was made for; absent if it was made for none.
	For *ManifestFor `json:"for,omitempty"`
}

// ManifestSecrets says what a scan of the exported texts for secrets (keys, tokens, passwords) found.
type ManifestSecrets struct {
	Rules int            `json:"rules"` // version of the rules
	Found map[string]int `json:"found"` // secrets by rule
	First []FoundSecret  `json:"first"` // at most 20
}

// FoundSecret is a secret in an exported state or label.
type FoundSecret struct {
	Trajectory string      `json:"trajectory"`
	Turn       int         `json:"turn"` // from 1; 0: before the first one
	In         SecretPlace `json:"in"`
	Rule       string      `json:"rule"`
	Excerpt    string      `json:"excerpt"` // without the secret
}

// String describes a secret in one line.
func (s FoundSecret) String() string {
	where := fmt.Sprintf("turn %d of trajectory %s (%s)", s.Turn, s.Trajectory, s.In)
	if s.In == SecretInPrompt {
		where = fmt.Sprintf("trajectory %s (%s)", s.Trajectory, s.In)
	}
	return fmt.Sprintf("%s, %s: %s", where, s.Rule, s.Excerpt)
}

// SecretPlace is the text that has a secret.
type SecretPlace string

// The places.
const (
	SecretInPrompt      SecretPlace = "prompt"      // the messages before the first turn, or the tools
	SecretInAction      SecretPlace = "action"      // what was executed
	SecretInObservation SecretPlace = "observation" // its result
	SecretInLabel       SecretPlace = "label"       // a label that was not executed
)

// ManifestAdvantage describes the advantages of an export: A = (R − mean) ÷ (std + ε) over the
// rewards of a group.
type ManifestAdvantage struct {
	Epsilon float64 `json:"epsilon"` // ε
	DDoF    int     `json:"ddof"`    // std divides by the number of members less this
	// Rewards are those of all members, ascending, by group_id: also of members without a row.
	Rewards map[string][]float64 `json:"rewards"`
}

// PreferenceCounts counts the exported states by whether the preference view has a row of them.
type PreferenceCounts struct {
	Rows          int `json:"rows"`
	Same          int `json:"same"`           // the executed action agrees with the label, or is the label
	InvalidAction int `json:"invalid_action"` // the executed action failed: no call, malformed arguments, an unknown tool, cut, or not UTF-8
	TooClose      int `json:"too_close"`      // closer than min_distance
	SpecialText   int `json:"special_text"`   // text of a special token in the state or in an action, which a trainer would encode as the token
}

// Plus returns the sum of two counts.
func (c PreferenceCounts) Plus(d PreferenceCounts) PreferenceCounts {
	return PreferenceCounts{c.Rows + d.Rows, c.Same + d.Same, c.InvalidAction + d.InvalidAction, c.TooClose + d.TooClose, c.SpecialText + d.SpecialText}
}

// SourceName returns the name of a source's run, or of its conversation set, from what ManifestSource.Run has.
func (m Manifest) SourceName(run string) string {
	if m.Provenance != nil {
		for _, of := range m.Provenance.Runs {
			if of.ID == run {
				return of.Name
			}
		}
	}
	return run
}

// Describe describes the counts in words.
func (c PreferenceCounts) Describe() string {
	text := counted(c.Rows, "preference", "preferences") + fmt.Sprintf("; %d states without: at %d the student did the same or the teacher acted", c.Same+c.InvalidAction+c.TooClose+c.SpecialText, c.Same)
	if c.InvalidAction > 0 {
		text += fmt.Sprintf(", at %d its action was invalid", c.InvalidAction)
	}
	if c.TooClose > 0 {
		text += fmt.Sprintf(", at %d it was closer than the minimum distance", c.TooClose)
	}
	if c.SpecialText > 0 {
		text += fmt.Sprintf(", at %d there is text of special tokens", c.SpecialText)
	}
	return text
}

// ManifestRule is the label rule of an iteration. Labels weigh 1 / probability, before normalisation.
type ManifestRule struct {
	Rule     LabelRule `json:"rule"`
	Unbiased bool      `json:"unbiased"` // whether the weighted sum over the labels has the sum over all states as its expectation
}

// TrajectoryCounts counts the trajectories that gave a row of an export, and their exported states.
type TrajectoryCounts struct {
	Count     int            `json:"count"`
	Verdicts  map[string]int `json:"verdicts"`  // trajectories by verdict; "none" without one
	Kappas    map[string]int `json:"kappas"`    // trajectories by κ; empty if executors were drawn by β
	Executors map[Role]int   `json:"executors"` // exported states by who acted there
}

// Plus adds the counts of two parts of an export.
func (c TrajectoryCounts) Plus(other TrajectoryCounts) TrajectoryCounts {
	return TrajectoryCounts{c.Count + other.Count, sumOf(c.Verdicts, other.Verdicts), sumOf(c.Kappas, other.Kappas), sumOf(c.Executors, other.Executors)}
}

func sumOf[K comparable](a, b map[K]int) map[K]int {
	sum := map[K]int{}
	for _, counts := range []map[K]int{a, b} {
		for key, n := range counts {
			sum[key] += n
		}
	}
	return sum
}

// EarlierExcludedName is the file of excluded states in exports of earlier versions, which is
// excluded.jsonl today.
const EarlierExcludedName = "left_out.jsonl"

// RenameManifestFields gives the fields of an earlier version's manifest.json their names of
// today. A quote before a colon always ends a name: texts escape theirs.
func RenameManifestFields(raw []byte) []byte {
	raw = bytes.Replace(raw, []byte(`"left_out":`), []byte(`"excluded":`), 1)
	return bytes.Replace(raw, []byte(`"leave_out_flags":`), []byte(`"exclude_flags":`), 1)
}

// ManifestGroups counts the groups (the trajectories of a task in an iteration).
type ManifestGroups struct {
	Mixed    int `json:"mixed"`     // with members of different rewards
	Equal    int `json:"equal"`     // with equal rewards, which are excluded
	TooSmall int `json:"too_small"` // with fewer than two members, which are excluded
}

// Plus returns the sum of two counts.
func (g ManifestGroups) Plus(h ManifestGroups) ManifestGroups {
	return ManifestGroups{Mixed: g.Mixed + h.Mixed, Equal: g.Equal + h.Equal, TooSmall: g.TooSmall + h.TooSmall}
}

// ManifestTooLong counts what the limit on a row's length excluded. The labels in it are
// excluded's too_long.
type ManifestTooLong struct {
	TrunksCut     int `json:"trunks_cut"`     // after their last label that fits
	LabelsCut     int `json:"labels_cut"`     // behind that
	TrunksDropped int `json:"trunks_dropped"` // with all their labels
	LabelsDropped int `json:"labels_dropped"` // with these trunks
	LeavesDropped int `json:"leaves_dropped"` // one label each
}

// Words describes the counts in one line.
func (t ManifestTooLong) Words() string {
	return fmt.Sprintf("over max_length: %d trunks cut (%d labels behind the cut), %d trunks dropped (%d labels), %d leaves dropped",
		t.TrunksCut, t.LabelsCut, t.TrunksDropped, t.LabelsDropped, t.LeavesDropped)
}

// Labels is the number of labels that the limit excluded.
func (t ManifestTooLong) Labels() int { return t.LabelsCut + t.LabelsDropped + t.LeavesDropped }

// Plus returns the sum of two counts.
func (t ManifestTooLong) Plus(u ManifestTooLong) ManifestTooLong {
	return ManifestTooLong{TrunksCut: t.TrunksCut + u.TrunksCut, LabelsCut: t.LabelsCut + u.LabelsCut,
		TrunksDropped: t.TrunksDropped + u.TrunksDropped, LabelsDropped: t.LabelsDropped + u.LabelsDropped, LeavesDropped: t.LeavesDropped + u.LeavesDropped}
}

// ManifestTokenizer is the tokenizer of the ids.
type ManifestTokenizer struct {
	Path   string `json:"path"`           // as given: a registered tokenizer's name, or a path
	Hash   string `json:"hash,omitempty"` // TokenizerFiles.Hash of a registered tokenizer
	SHA256 string `json:"sha256"`         // of tokenizer.json
	Stop   string `json:"stop"`           // text of the token that ends a label
	StopID int32  `json:"stop_id"`
	PadID  int32  `json:"pad_id"`
}

// Ref returns the reference of the tokenizer.
func (t ManifestTokenizer) Ref() TokenizerRef { return TokenizerRef{t.Path, t.Hash} }

// ManifestTemplate is the chat template that rendered states and labels.
type ManifestTemplate struct {
	Path      string          `json:"path,omitempty"` // of the file that replaced the tokenizer's template
	Text      string          `json:"text,omitempty"` // the text that replaced the tokenizer's template
	SHA256    string          `json:"sha256"`         // of its text
	Options   json.RawMessage `json:"options"`        // further variables
	Date      string          `json:"date,omitempty"`
	Arguments ArgumentsForm   `json:"arguments"`
	Reasoning ReasoningForm   `json:"reasoning,omitempty"`
	// ThinkingAlias says whether the template received reasoning_content as thinking too; null
	// (which means true) in exports of older versions.
	ThinkingAlias *bool `json:"thinking_alias"`
}

// ManifestFile is one Parquet file of a view.
type ManifestFile struct {
	Path             string `json:"path"`
	View             View   `json:"view"`
	SHA256           string `json:"sha256"`
	Bytes            int64  `json:"bytes"`
	Rows             int    `json:"rows"`
	Tokens           int    `json:"tokens"`            // 0 in the messages view
	SupervisedTokens int    `json:"supervised_tokens"` // 0 in the messages view
}

// ManifestSelection is the selection of an export.
type ManifestSelection struct {
	ExportSelection
	Students []string `json:"students"` // policy id of each iteration's student
}

// ExportRow is one stored row of a view of an export. Fields that its view lacks are empty.
// Aligned lists have one entry per token.
type ExportRow struct {
	ID string // row_id; "" in bare rows

	// The messages view: a state st, the tools and the label ãt as JSON text.
	Messages, Tools, Label string

	// The views prompt_completion and chat. The lists have one text each in the dialect text, else a JSON text per message.
	Prompt, Completion []string
	// The preference view: instead of a completion, the label and the executed action, and their chat.Distance.
	Chosen, Rejected []string
	Distance         float32
	Variables        string // chat_template_kwargs as JSON text
	Line             string // of chat, without its line break
	// Parts are the messages or texts of a row of text that was read for display; nil otherwise.
	Parts []RowPart

	// The token views. Labels are unshifted, and Unsupervised at tokens without loss; weights
	// have the index of their label.
	IDs, Labels []int32
	Weights     []float32
	Spans       []ExportSpan

	// Aligned: linear has both masks, packed and tree have positions, packed a loss mask.
	AttentionMask, LossMask, Positions []int32
	SeqLengths, SeqStarts              []int32 // packed: one entry per sequence
	// Aligned: log-probabilities at T = 1 under teacher and student (opd), and advantages (grpo).
	TeacherLogprobs, StudentLogprobs, Advantages []float32
	SubtreeEnd                                   []int32 // tree, aligned: token q sees token k where k <= q < SubtreeEnd[k]
	NodeStart, NodeParent, NodeKind              []int32 // tree: a node each, in depth-first preorder
}

// Unsupervised is the label of a token without loss.
const Unsupervised = -100

// The kinds of a node of the tree view.
const (
	TrunkNode   = 0
	LeafNode    = 1
	PaddingNode = 2
)

// ExportSpan is the span of one label's supervised tokens in a row, including the stop token.
type ExportSpan struct {
	Trajectory    string
	Turn          int    // t, from 1
	Kind          string // trunk or leaf
	Start, Length int    // in tokens of the row
	Weight        *float32
	Iteration     int
	Beta          *float32
	IDs           string // rendered or served
	// Group and Reward are those of the trajectory; "" and nil unless the recipe is opd or grpo.
	// Reward is nil too if it is unknown (opd without verdicts).
	Group  string
	Reward *float32
}

// End is the index after the span's last token.
func (s ExportSpan) End() int { return s.Start + s.Length }

// HeldLabel is a label with the index, from 0, of the row that holds it. In the messages view,
// whose rows have no spans, the span has only trajectory and turn.
type HeldLabel struct {
	Row  int
	Span ExportSpan
}

// ShownRow is a row of an export for display.
type ShownRow struct {
	Row   ExportRow
	File  string   // the file that contains it
	Of    int      // number of rows of the view
	Texts []string // one per token, possibly partial characters; nil if no tokenizer is available
}
