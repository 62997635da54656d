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

// OpenStudent opens the tokenizer and the template that an export was rendered with: where
// the manifest says that they were, or in the folder and the file given. nil where the
// export has no view of tokens. CodeNotFound where they are needed and not there.
func OpenStudent(m relabel.Manifest, tokenizer, template string) (*render.Student, error) {
	if m.Tokenizer == nil || m.Template == nil {
		return nil, nil
	}
	folder := cmp.Or(tokenizer, m.Tokenizer.Path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && tokenizer == "" {
		if !slices.Contains(m.Views, relabel.ViewMessages) {
			return nil, nil // nothing is to be rendered
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

// notFound says which tokenizer is missing: a folder, or a registered one, which servers have.
func notFound(of relabel.ManifestTokenizer) error {
	const so = "the labels cannot be rendered again"
	if of.Hash != "" {
		return relabel.Errorf(relabel.CodeNotFound, "no server that runs has the registered tokenizer %s: %s", of.Path, so).On("tokenizer")
	}
	return relabel.Errorf(relabel.CodeNotFound, "the folder %s is not there: %s", of.Path, so).On("tokenizer")
}

// NewStudent is OpenStudent with the files of the registered tokenizer that the manifest
// names. CodeInvalid where they are others.
func NewStudent(m relabel.Manifest, files relabel.TokenizerFiles) (*render.Student, error) {
	if files.Hash() != m.Tokenizer.Hash {
		return nil, relabel.Errorf(relabel.CodeInvalid, "are not the files that the manifest names (%s)", m.Tokenizer.Hash).On("tokenizer")
	}
	tokens, err := tokenizer.Parse(files[relabel.TokenizerJSON])
	if err != nil {
		return nil, err
	}
	return render.New(tokens, files, formOf(m))
}

// formOf is how the manifest says that rows were rendered.
func formOf(m relabel.Manifest) relabel.ExportForm {
	return relabel.ExportForm{TemplateText: m.Template.Text, TemplateOptions: m.Template.Options,
		Date: m.Template.Date, Arguments: m.Template.Arguments, Reasoning: m.Template.Reasoning, ThinkingAlias: m.Template.ThinkingAlias}
}
