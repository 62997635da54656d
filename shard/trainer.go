package shard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"

	"relabel"
	"relabel/shard/arrow"
	"relabel/shard/render"
	"relabel/trainers"
)

// mixWeights says, for trainers.CheckWeights, that the mix of an export has weights; "" if it has none.
func mixWeights(e relabel.Export) string {
	if e.Mix.Weighted() {
		return "the mix has weights other than 1 (mix.sampled draws labels instead)"
	}
	return ""
}

// checkStudent returns CodeInvalid on for if the form's trainer would change rows of this student.
func checkStudent(f relabel.ExportForm, s *render.Student) error {
	route, there := trainers.RouteOf(f)
	why := ""
	switch {
	case !there:
	case route.EndsWithEOS && s.Stop != s.EOS:
		why = fmt.Sprintf("appends the tokenizer's eos_token %q to rows, and the student's turns end with %q", s.EOS, s.Stop)
	case route.AddsBOS && s.BeginsWithBOS:
		why = "may put a second bos_token in front of rows, which begin with the student's own"
	case route.PrintsQwen3 && !s.PrintsAsQwen3():
		why = "prints rows itself, of its renderers only as Qwen3's template does on every token of a row, and the student's template prints plain messages differently"
	}
	if why == "" {
		return nil
	}
	return relabel.Errorf(relabel.CodeInvalid, "%s %s", f.For, why).On("for")
}

// trainerFiles returns the files of the export's trainer, and describes it for the manifest, whose other fields
// are complete; nil if the export has no trainer.
func trainerFiles(run relabel.Run, e relabel.Export, m relabel.Manifest) ([]trainers.File, *relabel.ManifestFor, error) {
	route, there := trainers.RouteOf(e.Form)
	if !there {
		return nil, nil, nil
	}
	trainer, err := trainers.Find(e.Form.For)
	if err != nil {
		return nil, nil, err
	}
	facts := trainerFacts(run, e, m, route)
	files, err := route.Configuration(facts, program)
	if err != nil {
		return nil, nil, err
	}
	files = append(files, viewFiles(m, route.View)...)
	command, err := route.CommandLine(facts)
	if err != nil {
		return nil, nil, err
	}
	described := &relabel.ManifestFor{Trainer: trainer.Name, View: route.View, Dialect: route.Dialect, Command: command, Run: trainer.Run, Read: trainer.Read, Files: []relabel.ManifestForFile{}}
	for _, f := range files {
		hash := sha256.Sum256([]byte(f.Text))
		described.Files = append(described.Files, relabel.ManifestForFile{Path: f.Name, SHA256: hex.EncodeToString(hash[:])})
	}
	return files, described, nil
}

// viewFiles are the files that make the folder of a view one that datasets' load_from_disk opens.
func viewFiles(m relabel.Manifest, view relabel.View) (files []trainers.File) {
	if view != relabel.ViewArrow {
		return nil
	}
	var paths []string
	for _, f := range m.Files {
		if f.View == view {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	beside := arrow.Folder(paths, hashOf(m, view))
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		files = append(files, trainers.File{Name: path.Join(string(view), name), Text: beside[name]})
	}
	return files
}

// trainerFacts are the facts of an export on which a trainer's configuration depends.
func trainerFacts(run relabel.Run, e relabel.Export, m relabel.Manifest, route trainers.Route) trainers.Facts {
	facts := trainers.Facts{View: route.View, Capacity: e.Form.Capacity, MaxLength: e.Form.MaxLength, LearningRate: 1e-5, Epochs: 1}
	if m.Normalisation != nil {
		facts.Weighted = run.Recipe.OnPolicy() || *m.Normalisation == relabel.PerTransition || weighted(m.LabelRules) || e.Mix.Weighted()
	}
	if m.Template != nil {
		facts.Options, facts.Arguments = m.Template.Options, m.Template.Arguments
	}
	if t := run.Trainer; t != nil {
		facts.LearningRate, facts.Epochs = cmp.Or(t.LearningRate, facts.LearningRate), max(t.Epochs, 1)
	}
	for _, f := range m.Files {
		if f.View == route.View && f.Rows > 0 {
			facts.Files = append(facts.Files, f.Path)
		}
	}
	slices.Sort(facts.Files)
	return facts
}
