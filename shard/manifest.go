package shard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"

	"relabel"
	"relabel/labelrule"
	"relabel/shard/tree"
)

// manifestName is the file that is written last: a folder without it is not an export.
const manifestName = "manifest.json"

// newManifest returns the manifest of an export.
func newManifest(run relabel.Run, e relabel.Export, sum summary, files []relabel.ExportFile) relabel.Manifest {
	m := relabel.Manifest{
		SchemaVersion: 1, Views: e.Form.Views, LossMask: map[string]string{}, Fill: map[string]float64{}, Run: run.ID.String(), Recipe: run.Recipe,
		Trajectories: sum.Trajectories.Plus(relabel.TrajectoryCounts{}), // maps without entries are {}
		Selection:    relabel.ManifestSelection{ExportSelection: e.Selection}, MaxLabels: e.Form.MaxLabels, States: sum.States, Excluded: sum.Excluded, SpecialText: sum.Special, SpecialInTools: sum.SpecialTools + sum.SpecialTold, Served: sum.Served,
	}
	for _, it := range sum.Iterations {
		m.Iterations, m.Beta = append(m.Iterations, it.Number), append(m.Beta, it.Beta)
		m.Rho = append(m.Rho, it.Rho)
		if !run.Recipe.OnPolicy() {
			m.LabelRules = append(m.LabelRules, manifestRule(it.Rule))
		}
		m.Teacher, m.Student = "", it.Student.ID.String()
		if it.Teacher.ID != (relabel.ID{}) {
			m.Teacher = it.Teacher.ID.String()
		}
		m.Selection.Students = append(m.Selection.Students, m.Student)
	}
	for _, f := range files {
		m.Files = append(m.Files, relabel.ManifestFile{Path: f.Path, View: relabel.View(path.Dir(f.Path)), SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows,
			Tokens: f.Tokens, SupervisedTokens: f.SupervisedTokens})
	}
	if !sum.unscanned && sum.Secrets.Rules > 0 {
		m.Secrets = &sum.Secrets
	}
	if e.Selection.ReliesOnVerdicts() {
		m.VerdictProtections = sum.Protections
	}
	if e.Selection.MixedRewards {
		m.Groups = &sum.Groups
	}
	if run.Recipe == relabel.GRPO {
		m.Advantage = &relabel.ManifestAdvantage{Epsilon: tree.Epsilon, DDoF: tree.DDoF, Rewards: sum.Rewards}
	}
	if slices.Contains(e.Form.Views, relabel.ViewPreference) {
		m.Preferences = &sum.Preferences
	}
	if e.Form.Tokens() {
		addTokens(&m, e.Form, sum)
	}
	return m
}

// manifestRule describes the label rule of an iteration, which was checked when that was created.
func manifestRule(text relabel.LabelRule) relabel.ManifestRule {
	r, err := labelrule.Parse(text, "label_rule")
	return relabel.ManifestRule{Rule: cmp.Or(text, relabel.LabelAll), Unbiased: err == nil && r.Unbiased()}
}

// addTokens adds the fields that apply to token views.
func addTokens(m *relabel.Manifest, f relabel.ExportForm, sum summary) {
	m.Capacity, m.Normalisation, m.PromptCheck = &f.Capacity, &f.Normalisation, sum.promptCheck(f)
	m.WeightSpan = f.WeightSpan
	m.ModelCheck, m.TooLong = sum.Student.ModelCheck, &sum.TooLong
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
	m.Tokenizer = &relabel.ManifestTokenizer{Path: f.Tokenizer, Hash: f.TokenizerHash, SHA256: sum.Student.TokenizerSHA256, Stop: sum.Student.Stop, StopID: sum.Student.StopID, PadID: sum.Student.PadID}
	m.Template = &relabel.ManifestTemplate{Path: f.Template, Text: f.TemplateText, SHA256: sum.Student.TemplateSHA256, Options: f.TemplateOptions, Date: f.Date, Arguments: sum.Student.Arguments, Reasoning: f.Reasoning,
		ThinkingAlias: new(f.ThinkingAlias == nil || *f.ThinkingAlias)}
	if m.Template.Options == nil {
		m.Template.Options = json.RawMessage("{}")
	}
}

// encodeManifest encodes a manifest; equal manifests give equal bytes.
func encodeManifest(m relabel.Manifest) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(m)
	return b.Bytes(), err
}
