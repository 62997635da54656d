package shard

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"relabel"
	"relabel/examples/train"
	"relabel/labelrule"
	"relabel/safetext"
)

const readmeName = "README.md"

//go:embed readme.md.tmpl
var readmeText string

var readmeTemplate = template.Must(template.New(readmeName).Funcs(template.FuncMap{"program": program}).Parse(readmeText))

// program returns the text of an example training program.
func program(name string) (string, error) {
	text, err := train.Programs.ReadFile(name)
	return string(text), err
}

// writeReadme writes an export's README.md, which explains how to load and train on it.
func writeReadme(w io.Writer, run relabel.Run, e relabel.Export, sum summary, m relabel.Manifest) error {
	rounds, teacher := roundsText(sum, run.Recipe.OnPolicy())
	trl, err := trlProgram(run.Trainer)
	if err != nil {
		return err
	}
	head, err := card{m}.write("head")
	if err != nil {
		return err
	}
	body, err := card{m}.write("body")
	if err != nil {
		return err
	}
	preset, _ := relabel.FindPreset(run.Preset) // a run without one has no trainer
	perToken := m.Normalisation != nil && *m.Normalisation == relabel.PerToken && !weighted(m.LabelRules)
	return readmeTemplate.Execute(w, map[string]any{
		"CardHead": head, "Card": body, "Run": nameText(run.Name), "Manifest": m, "Form": e.Form, "Totals": totalsOf(m), "Hash": func(v relabel.View) string { return hashOf(m, v) },
		"Has":      func(v string) bool { return slices.Contains(m.Views, relabel.View(v)) },
		"OnPolicy": run.Recipe.OnPolicy(),
		"PerToken": perToken, "Weighted": (run.Recipe.OnPolicy() || !perToken) && !e.Form.Bare, "Ruled": ruledOf(m), "TRL": trl,
		"Teacher": teacher, "Rounds": rounds, "Asked": askedText(m.Selection.ExportSelection), "AskedRounds": m.Selection.ExportSelection.DescribeIterations(),
		"FirstParquet": firstParquet(m.Views), "Spans": slices.ContainsFunc(m.Views, hasSpans), "Programs": m.For == nil && slices.ContainsFunc(m.Views, hasSpans),
		"Preset": run.Preset, "Source": preset.Source(), "Trainer": run.Trainer, "Prompts": m.PromptCheck, "Excluded": excludedText(m.Excluded), "ExcludedName": excludedName,
	})
}

// firstParquet is the first view that load_dataset finds by its name, "" if there is none.
func firstParquet(views []relabel.View) relabel.View {
	for _, v := range views {
		if v.IsParquet() {
			return v
		}
	}
	return ""
}

// hasSpans reports whether rows of a view say whose labels they hold, unless they are bare.
func hasSpans(v relabel.View) bool {
	return v == relabel.ViewLinear || v == relabel.ViewPacked || v == relabel.ViewTree
}

// trlDefaults are the settings of train_trl.py that a preset replaces.
const trlDefaults = `"learning_rate": 1e-5, "num_train_epochs": 1`

// trlProgram returns train_trl.py with the learning rate and epochs of the run's preset, if it has one.
func trlProgram(t *relabel.Trainer) (string, error) {
	text, err := program("train_trl.py")
	if err != nil || t == nil {
		return text, err
	}
	settings := fmt.Sprintf(`"learning_rate": %g, "num_train_epochs": %d, "lr_scheduler_type": "%s"`, t.LearningRate, max(t.Epochs, 1), t.Schedule)
	if t.Schedule == "cosine" {
		settings = fmt.Sprintf(`"learning_rate": %g, "num_train_epochs": %d,
        "lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": {"min_lr": %g}, "warmup_steps": %g`, t.LearningRate, max(t.Epochs, 1), t.MinLearningRate, t.WarmupRatio)
	}
	return strings.Replace(text, trlDefaults, settings, 1), nil
}

// weighted reports whether a label rule may give weights other than 1.
func weighted(rules []relabel.ManifestRule) bool {
	return slices.ContainsFunc(rules, func(r relabel.ManifestRule) bool { return r.Unbiased && r.Rule != relabel.LabelAll })
}

// ruled is an iteration whose label rule does not ask at every state.
type ruled struct {
	Number int
	relabel.ManifestRule
}

// EndsRollouts reports whether the rule ended rollouts instead of selecting labels.
func (r ruled) EndsRollouts() bool {
	rule, err := labelrule.Parse(r.Rule, "label_rule")
	return err == nil && rule.EndsRollouts()
}

// ruledOf lists these iterations in the order of the manifest.
func ruledOf(m relabel.Manifest) (all []ruled) {
	for i, r := range m.LabelRules {
		if r.Rule != relabel.LabelAll {
			all = append(all, ruled{m.Iterations[i], r})
		}
	}
	return all
}

// roundsText lists the iterations with their students, and names the last one's teacher.
func roundsText(sum summary, onPolicy bool) (rounds, teacher string) {
	var all []string
	for _, it := range sum.Iterations {
		beta := "κ drawn"
		switch {
		case onPolicy:
			beta = "student alone"
		case it.Beta != nil:
			beta = fmt.Sprintf("β = %.4g", *it.Beta)
		}
		all = append(all, fmt.Sprintf("%d (%s, student %s)", it.Number, beta, policyName(it.Student)))
		teacher = "none"
		if it.Teacher.ID != (relabel.ID{}) {
			teacher = policyName(it.Teacher)
		}
	}
	return strings.Join(all, "; "), teacher
}

// viewTotals holds the totals of a view.
type viewTotals struct {
	View                                  relabel.View
	Files, Rows, Tokens, SupervisedTokens int
}

// totalsOf adds up the files of each view.
func totalsOf(m relabel.Manifest) (all []viewTotals) {
	for _, v := range m.Views {
		t := viewTotals{View: v}
		for _, f := range m.Files {
			if f.View == v {
				t.Files, t.Rows, t.Tokens, t.SupervisedTokens = t.Files+1, t.Rows+f.Rows, t.Tokens+f.Tokens, t.SupervisedTokens+f.SupervisedTokens
			}
		}
		all = append(all, t)
	}
	return all
}

// hashOf returns a hash of a view's rows. The library datasets caches by the head of
// README.md and by file names, not by content.
func hashOf(m relabel.Manifest, v relabel.View) string {
	hash := sha256.New()
	for _, f := range m.Files {
		if f.View == v {
			fmt.Fprintln(hash, f.Path, f.SHA256)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

func policyName(p relabel.Policy) string {
	return nameText(fmt.Sprintf("%s@%d (%s)", p.Name, p.Version, p.Model))
}

// askedText describes a selection in Markdown. Names of benchmarks may be any text.
func askedText(sel relabel.ExportSelection) string {
	names := make([]string, len(sel.AllowBenchmarks))
	for i, name := range sel.AllowBenchmarks {
		names[i] = nameText(name)
	}
	sel.AllowBenchmarks = names
	return sel.Describe()
}

// excludedText counts excluded states in Markdown, by reason.
func excludedText(counts map[string]int) string {
	shown := make(map[string]int, len(counts))
	for reason, n := range counts {
		if name, is := relabel.CutBenchmarkReason(reason); is {
			reason = relabel.BenchmarkReason(nameText(name))
		}
		shown[reason] += n
	}
	return countsText(shown)
}

// nameText is any name in Markdown, as one line of plain text.
func nameText(name string) string { return markdown.Replace(oneLine(safetext.Plain(name))) }

// markdown escapes the characters that Markdown or HTML would read, at any place of a line.
var markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "&", `\&`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`)

// oneLine replaces line breaks in a name, so that it stays on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
