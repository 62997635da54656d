package shard

import (
	"bytes"
	"encoding/json"
	"path"

	"relabel"
)

// manifestName is the file that is written last: a folder without it is no export.
const manifestName = "manifest.json"

// Manifest is manifest.json. Fields that speak of tokens are null or empty in an export
// without a token view.
type Manifest struct {
	SchemaVersion      int                    `json:"schema_version"`
	Views              []relabel.View         `json:"views"`
	Capacity           *int                   `json:"capacity"`  // tokens a bin; null: nothing is packed
	LossMask           map[string]string      `json:"loss_mask"` // view → alignment
	Files              []ManifestFile         `json:"files"`
	Fill               map[string]float64     `json:"fill"`
	DeduplicationRatio *float64               `json:"deduplication_ratio"`
	Tokenizer          *ManifestTokenizer     `json:"tokenizer"`
	Template           *ManifestTemplate      `json:"template"`
	Teacher            string                 `json:"teacher"` // policy id
	Student            string                 `json:"student"` // policy id of the last iteration's student
	Run                string                 `json:"run"`
	Iterations         []int                  `json:"iterations"` // those that gave a row
	Beta               []*float64             `json:"beta"`       // βi of each; null where executors were drawn by κ
	Recipe             relabel.Recipe         `json:"recipe"`
	Normalisation      *relabel.Normalisation `json:"normalisation"`
	Selection          ManifestSelection      `json:"selection"`
	States             int                    `json:"states"`       // labelled states in it
	LeftOut            map[string]int         `json:"left_out"`     // labelled states by reason
	SpecialText        int                    `json:"special_text"` // texts of special tokens in messages, encoded as plain text
	Served             int                    `json:"served"`       // labels whose ids are their server's own, not a rendering
}

// ManifestTokenizer is what the ids are of.
type ManifestTokenizer struct {
	SHA256 string `json:"sha256"` // of tokenizer.json
	Stop   string `json:"stop"`   // text of the token that ends a label
	StopID int32  `json:"stop_id"`
	PadID  int32  `json:"pad_id"`
}

// ManifestTemplate is what states and labels were rendered with.
type ManifestTemplate struct {
	SHA256    string                `json:"sha256"`  // of the template's text
	Options   json.RawMessage       `json:"options"` // further variables
	Date      string                `json:"date,omitempty"`
	Arguments relabel.ArgumentsForm `json:"arguments"`
	Reasoning relabel.ReasoningForm `json:"reasoning,omitempty"`
}

// ManifestFile is one Parquet file of a view.
type ManifestFile struct {
	Path             string       `json:"path"`
	View             relabel.View `json:"view"`
	SHA256           string       `json:"sha256"`
	Bytes            int64        `json:"bytes"`
	Rows             int          `json:"rows"`
	Tokens           int          `json:"tokens"`            // 0 in the messages view
	SupervisedTokens int          `json:"supervised_tokens"` // 0 in the messages view
}

// ManifestSelection is what was asked for.
type ManifestSelection struct {
	relabel.ExportSelection
	Students []string `json:"students"` // policy id of each iteration's student
}

// newManifest describes an export.
func newManifest(run relabel.Run, e relabel.Export, sum summary, files []relabel.ExportFile) Manifest {
	m := Manifest{
		SchemaVersion: 1, Views: e.Form.Views, LossMask: map[string]string{}, Fill: map[string]float64{}, Run: run.ID.String(), Recipe: run.Recipe,
		Selection: ManifestSelection{ExportSelection: e.Selection}, States: sum.States, LeftOut: sum.LeftOut, SpecialText: sum.Special, Served: sum.Served,
	}
	for _, it := range sum.Iterations {
		m.Iterations, m.Beta = append(m.Iterations, it.Number), append(m.Beta, it.Beta)
		m.Teacher, m.Student = it.Teacher.ID.String(), it.Student.ID.String()
		m.Selection.Students = append(m.Selection.Students, m.Student)
	}
	for _, f := range files {
		m.Files = append(m.Files, ManifestFile{Path: f.Path, View: relabel.View(path.Dir(f.Path)), SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows,
			Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
	}
	if e.Form.Tokens() {
		m.addTokens(e.Form, sum)
	}
	return m
}

// addTokens says what speaks of tokens.
func (m *Manifest) addTokens(f relabel.ExportForm, sum summary) {
	m.Capacity, m.Normalisation = &f.Capacity, &f.Normalisation
	for view, alignment := range map[relabel.View]string{relabel.ViewLinear: "token", relabel.ViewPacked: "rolled-1"} {
		if _, there := sum.Views[view]; there && !(f.Bare && view == relabel.ViewLinear) {
			m.LossMask[string(view)] = alignment
		}
	}
	for _, view := range []relabel.View{relabel.ViewPacked, relabel.ViewTree} {
		if figures, there := sum.Views[view]; there {
			m.Fill[string(view)] = figures.fill(f.Capacity)
		}
	}
	if sum.TreeTokens > 0 {
		ratio := float64(sum.LinearTokens) / float64(sum.TreeTokens)
		m.DeduplicationRatio = &ratio
	}
	m.Tokenizer = &ManifestTokenizer{sum.Student.TokenizerSHA256, sum.Student.Stop, sum.Student.StopID, sum.Student.PadID}
	m.Template = &ManifestTemplate{SHA256: sum.Student.TemplateSHA256, Options: f.TemplateOptions, Date: f.Date, Arguments: sum.Student.Arguments, Reasoning: f.Reasoning}
	if m.Template.Options == nil {
		m.Template.Options = json.RawMessage("{}")
	}
}

// encode returns the manifest's text; the same manifest gives the same bytes.
func (m Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(m)
	return b.Bytes(), err
}
