package verify

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"relabel"
	"relabel/shard/render"
	"relabel/tokenizer"
)

// FindStudent opens the tokenizer and the template of the export in a folder: the given folder and
// file, else the manifest's registered tokenizer from fetch, else the manifest's paths. The result is
// nil if nothing is rendered or Check reports that the manifest cannot be read. fetch returns nil if
// no server runs. CodeNotFound, with what to do, if the files are needed and do not exist.
func FindStudent(dir, tokenizer, template string, fetch func(hash string) (relabel.TokenizerFiles, error)) (*render.Student, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, nil
	}
	var unfetched error
	if tokenizer == "" && template == "" && m.Tokenizer != nil && m.Tokenizer.Hash != "" {
		files, err := fetch(m.Tokenizer.Hash)
		if files != nil {
			return newStudent(m, files)
		}
		unfetched = err
	}
	s, err := OpenStudent(m, tokenizer, template)
	if relabel.CodeOf(err) == relabel.CodeNotFound {
		return nil, relabel.Errorf(relabel.CodeNotFound, "%v: give its folder with --tokenizer, or skip the comparison with --no-render", cmp.Or(unfetched, err))
	}
	return s, err
}

// OpenStudent opens the tokenizer and the template that an export was rendered with, from the given
// folder and file or the manifest's paths. The result is nil if the export has no token view.
// CodeNotFound if they are needed and do not exist.
func OpenStudent(m relabel.Manifest, tokenizer, template string) (*render.Student, error) {
	if m.Tokenizer == nil || m.Template == nil {
		return nil, nil
	}
	folder := cmp.Or(tokenizer, m.Tokenizer.Path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && tokenizer == "" {
		if !slices.ContainsFunc(m.Views, func(v relabel.View) bool { return !v.HasIDs() }) {
			return nil, nil // nothing to render
		}
		return nil, notFound(*m.Tokenizer)
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	form := formOf(m)
	form.Tokenizer, form.Template = folder, cmp.Or(template, m.Template.Path)
	return render.Open(form)
}

// notFound returns the error for a missing tokenizer: a folder, or a registered one of a server.
func notFound(of relabel.ManifestTokenizer) error {
	const so = "the labels cannot be rendered"
	if of.Hash != "" {
		return relabel.Errorf(relabel.CodeNotFound, "no running server has the registered tokenizer %s: %s", of.Path, so).On("tokenizer")
	}
	return relabel.Errorf(relabel.CodeNotFound, "the folder %s does not exist: %s", of.Path, so).On("tokenizer")
}

// newStudent is OpenStudent with the files of the manifest's registered tokenizer. CodeInvalid if
// the files differ.
func newStudent(m relabel.Manifest, files relabel.TokenizerFiles) (*render.Student, error) {
	if files.Hash() != m.Tokenizer.Hash {
		return nil, relabel.Errorf(relabel.CodeInvalid, "differ from the files in the manifest (%s)", m.Tokenizer.Hash).On("tokenizer")
	}
	tokens, err := tokenizer.Parse(files[relabel.TokenizerJSON])
	if err != nil {
		return nil, err
	}
	return render.New(tokens, files, formOf(m))
}

// formOf returns the form with which the rows were rendered.
func formOf(m relabel.Manifest) relabel.ExportForm {
	return relabel.ExportForm{TemplateText: m.Template.Text, TemplateOptions: m.Template.Options,
		Date: m.Template.Date, Arguments: m.Template.Arguments, Reasoning: m.Template.Reasoning, ThinkingAlias: m.Template.ThinkingAlias}
}
